/** What an operator does to connectors while messages are under way over them. */
import { admin } from "../admin.ts";
import type { Dice } from "./dice.ts";
import type { Fleet } from "./fleet.ts";

export type ChangingConnector =
  | {
      readonly kind: "change settings";
      readonly connector: number;
      readonly config: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "disable"; readonly connector: number; readonly ms: number };

type Changes = Readonly<Record<string, (dice: Dice) => unknown>>;

/** The last ones need new sessions. */
export const SMPP_CHANGES: Changes = {
  window: (dice) => dice.between(1, 20),
  max_per_second: (dice) => (dice.chance(0.3) ? null : dice.between(20, 200)),
  source_ton: (dice) => dice.between(0, 5),
  concat: (dice) => dice.pick({ udh8: 1, udh16: 1, sar: 1 }),
  validity_period: (dice) => dice.chance(0.5),
  system_type: (dice) => dice.pick({ VMA: 1, OTP: 1 }),
  enquire_link_ms: (dice) => dice.between(1_000, 30_000),
  max_per_second_per_sender: (dice) => (dice.chance(0.5) ? null : dice.between(10, 50)),
};

export const GATEWAY_CHANGES: Changes = {
  max_in_flight: (dice) => dice.between(1, 20),
  max_per_second: (dice) => (dice.chance(0.3) ? null : dice.between(20, 200)),
  sender: (dice) => dice.pick({ ACME: 1, OTHER: 1 }),
};

/** The same steps, and such changes between them. */
export function withChanges<Step>(
  steps: readonly PlannedStep<Step>[],
  changes: Changes,
  dice: Dice,
): readonly PlannedStep<Step | ChangingConnector>[] {
  return steps.flatMap((step): readonly PlannedStep<Step | ChangingConnector>[] =>
    dice.chance(0.1) ? [step, { step: changeOf(changes, dice), pauseMs: 0 }] : [step],
  );
}

interface PlannedStep<Step> {
  readonly step: Step;
  readonly pauseMs: number;
}

function changeOf(changes: Changes, dice: Dice): ChangingConnector {
  const connector = dice.between(0, 1);
  if (dice.chance(0.1)) return { kind: "disable", connector, ms: dice.between(0, 1_500) };
  const names = Object.keys(changes);
  const name = names[dice.between(0, names.length - 1)] ?? "";
  return { kind: "change settings", connector, config: { [name]: changes[name]?.(dice) } };
}

export async function changeConnector(
  { fleet, connectors }: { readonly fleet: Fleet; readonly connectors: readonly string[] },
  { connector, ...step }: ChangingConnector,
): Promise<void> {
  const id = connectors[connector % connectors.length] ?? "";
  fleet.note(`${step.kind}: ${JSON.stringify(step.kind === "disable" ? step.ms : step.config)}`);
  if (step.kind === "change settings") {
    await change(fleet, id, { config: step.config });
    return;
  }
  await change(fleet, id, { is_enabled: false });
  await Bun.sleep(step.ms);
  const endsMs = Date.now() + TIME_LIMIT_MS;
  while (!(await change(fleet, id, { is_enabled: true })) && Date.now() < endsMs) await Bun.sleep(AGAIN_MS);
}

/** Until a process runs again that has been killed, say. */
const AGAIN_MS = 100;

/** A process that has ended by itself does not run again: the run is to come to its end all the same, and say so. */
const TIME_LIMIT_MS = 60_000;

/** Whether a process says that it has changed the connector. */
function change(fleet: Fleet, id: string, body: object): Promise<boolean> {
  const service = fleet.some(() => 0);
  if (!service) return Promise.resolve(false);
  return admin(service, `/connectors/${id}`, body, "PATCH").then(
    () => true,
    () => false,
  );
}
