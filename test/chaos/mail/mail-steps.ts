/** Carries out the steps of a plan with emails. */
import { disturbFleet, repeat, send } from "../steps.ts";
import type { AskedMail, Sender } from "./mail-model.ts";
import type { AskingForMail, MailStep } from "./mail-plan.ts";
import { DOMAINS, type MailWorld } from "./mail-world.ts";

/** Resolves when the step is done. Never rejects because a process does not answer. */
export async function takeMailStep(world: MailWorld, step: MailStep): Promise<void> {
  switch (step.kind) {
    case "send":
      return send(world, newRequest(world, step));
    case "send again":
    case "cancel":
    case "look up":
      return repeat(world, step);
    case "drop":
    case "relay away": {
      const relay = world.relays[step.relay % world.relays.length];
      world.fleet.note(`${step.kind} at the ${relay?.name} relay`);
      if (step.kind === "drop") relay?.dropAll();
      else relay?.goAway(step.ms);
      return;
    }
    default:
      return disturbFleet(world.fleet, step);
  }
}

/** Each request has addresses of its own, in both domains where there are several. */
function newRequest({ model, accounts, seed, fleet }: MailWorld, asking: AskingForMail): AskedMail {
  const index = model.asked.length;
  const account = accounts[asking.account] as Sender;
  const addresses = (field: string, count: number) =>
    Array.from({ length: count }, (_, place) => `r${index}-${field}${place}@${DOMAINS[place % 2]}`);
  const [to, cc, bcc] = [
    addresses("to", asking.to),
    addresses("cc", asking.cc),
    addresses("bcc", asking.bcc),
  ];
  const doubled = asking.hasDouble ? [to[0]!.toUpperCase()] : [];
  const asked: AskedMail = {
    index,
    account,
    addresses: [...to, ...cc, ...bcc],
    key: asking.hasKey ? `${seed}-${index}` : undefined,
    body: {
      from: { email: `hello@${account.domain}` },
      to: recipients(to),
      ...(cc.length + doubled.length > 0 && { cc: recipients([...doubled, ...cc]) }),
      ...(bcc.length > 0 && { bcc: recipients(bcc) }),
      subject: subjectOf(index),
      body_text: "Lorem ipsum dolor sit amet.\n".repeat(asking.length / 28 + 1).slice(0, asking.length),
      metadata: { request: index },
      ...(asking.hasCallback && { callback_url: account.callbackUrl }),
      ...(asking.scheduleInMs && {
        schedule_at: new Date(fleet.now() + asking.scheduleInMs).toISOString(),
      }),
    },
    unanswered: 0,
    tries: 0,
    isRefused: false,
    answer: undefined,
  };
  model.asked.push(asked);
  return asked;
}

export function subjectOf(index: number): string {
  return `Request ${index}`;
}

function recipients(addresses: readonly string[]) {
  return addresses.map((email) => ({ email }));
}
