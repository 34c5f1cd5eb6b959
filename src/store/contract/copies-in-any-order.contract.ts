/** Copies of an SMS at several connectors, and all they say of them, in whatever order, held against a model of a few lines. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ClaimedJob } from "../../core/queue/claimed-job.ts";
import { answerLate, OTHER, TO, tell } from "./copies-world.contract.ts";
import {
  CONNECTOR,
  deferred,
  inWorld,
  type OpenStore,
  SECOND,
  sent,
  unconfirmed,
  type World,
} from "./world.contract.ts";

/** On a slow machine there are fewer. */
const LIMITS = { numRuns: 60, interruptAfterTimeLimit: 30_000 };

const OUTCOMES = { sent, unconfirmed: () => unconfirmed(), deferred: () => deferred() } as const;

const KINDS = ["claim", "settle", "answers late", "is on its way", "has failed", "has delivered"] as const;

type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

const happening = fc.record({
  kind: fc.constantFrom(...KINDS, "claim", "settle", "has failed"),
  connectorId: fc.constantFrom(CONNECTOR, OTHER, "connector-c"),
  outcome: fc.constantFrom("sent" as const, "unconfirmed" as const, "deferred" as const),
});

/** What a connector has, or may have. */
interface Held {
  state: "under way" | "silent" | "taken" | "failed" | "delivered";
  /** Later ones are higher. */
  readonly turn: number;
}

type Copies = Map<string, Held>;

/** Copies that may be delivered, as far as a failure is to wait for them: not those of earlier attempts that were never answered. */
function awaited(copies: Copies): readonly string[] {
  const lastFailed = Math.max(
    ...[...copies.values()].map(({ state, turn }) => (state === "failed" ? turn : -1)),
  );
  return [...copies].flatMap(([connectorId, { state, turn }]) =>
    state === "taken" || state === "under way" || (state === "silent" && turn > lastFailed)
      ? [connectorId]
      : [],
  );
}

/** One SMS, in a queue of its own. */
async function begin(world: World, queue: string) {
  const [id = ""] = await world.sms({ to: [TO], queue });
  const copies: Copies = new Map();
  let job: (ClaimedJob & { readonly connectorId: string }) | undefined;

  const claim = async (connectorId: string) => {
    if (job || copies.has(connectorId)) return;
    world.clock.now += 120 * SECOND;
    await world.store.queue.stage(world.clock.now, 10);
    const [claimed] = await world.claim(1, queue);
    if (!claimed) return;
    job = { ...claimed, connectorId };
    copies.set(connectorId, { state: "under way", turn: copies.size });
  };
  const settle = async (outcome: Happening["outcome"]) => {
    if (!job) return;
    const { connectorId } = job;
    const next = { kind: "again", dueAt: world.clock.now } as const;
    await world.settle(job, { connectorId, outcomes: [OUTCOMES[outcome](`${connectorId} ${id}`)], next });
    job = undefined;
    const held = copies.get(connectorId);
    if (outcome === "deferred") copies.delete(connectorId);
    else if (held) held.state = outcome === "sent" ? "taken" : "silent";
  };
  const say = async ({
    kind,
    connectorId,
  }: {
    readonly kind: Happening["kind"];
    readonly connectorId: string;
  }) => {
    const held = copies.get(connectorId);
    if (!held || held.state === "under way" || held.state === "failed") return;
    if (kind === "has failed") {
      held.state = "failed";
      await tell(world, id, { connectorId, status: "undelivered" });
    } else if (kind === "has delivered") {
      held.state = "delivered";
      await tell(world, id, { connectorId, status: "delivered" });
    } else if (held.state === "silent") {
      held.state = "taken";
      if (kind === "answers late") await answerLate(world, id, connectorId);
      else await tell(world, id, { connectorId, status: "sent" });
    }
  };
  const happen = async (each: Happening) => {
    if (each.kind === "claim") await claim(each.connectorId);
    else if (each.kind === "settle") await settle(each.outcome);
    else await say(each);
  };
  return { id, copies, happen, settle, say };
}

export function copiesInAnyOrderContract(open: OpenStore): void {
  let runs = 0;
  test(
    "however the copies of an SMS fare, it is undelivered only when no other may be delivered, and does not stay sent then",
    inWorld(open, async (world) => {
      const property = fc.asyncProperty(fc.array(happening, { maxLength: 16 }), async (happenings) => {
        const { id, copies, happen, settle, say } = await begin(world, `queue-${++runs}`);
        for (const each of happenings) {
          await happen(each);
          const status = await world.status(id);
          const isDelivered = [...copies.values()].some(({ state }) => state === "delivered");
          expect(status === "delivered").toBe(isDelivered);
          if (isDelivered) return;
          if (status === "undelivered") return expect(awaited(copies)).toEqual([]);
          expect(["queued", "sending", "sent"]).toContain(status);
        }
        await settle("sent");
        for (const connectorId of copies.keys()) await say({ kind: "has failed", connectorId });
        expect(await world.status(id)).not.toBe("sent");
        expect(await world.store.receipts.countParked()).toBe(0);
      });
      await fc.assert(property, LIMITS);
    }),
    60_000,
  );
}
