/** A message that only one connector may send, which is up and has no free slot in this process, and one in that one's own queue. */
import { expect, test } from "bun:test";
import { claimedJob } from "../../test/claimed-job.ts";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { sms } from "../../test/progress-samples.ts";
import type { Settlement } from "../core/queue/claimed-job.ts";
import type { Route } from "../core/records/accounts.ts";
import { createUnstored, type MovedJob } from "../store/store.ts";
import type { Outlet } from "./outlets/outlet.ts";
import { createSendMessage, type SendMessageDeps } from "./send-message.ts";

function openOutlet(connectorId: string, free: number): Outlet {
  const channel = { connectorId, sendTimeoutMs: 20_000 };
  return { channel, isUp: () => true, available: () => free, unreserve() {} } as unknown as Outlet;
}

interface Situation {
  /** Its lease lasts until it is settled. */
  readonly isOurs: boolean;
  /** It was claimed from the queue of this one; the route that leads to its recipient is as given. */
  readonly inQueueOf?: { readonly connectorId: string; readonly route: Pick<Route, "failover"> };
  readonly first?: "sent" | "unconfirmed";
}

/** What is stored of the message. */
async function storedOf({ isOurs, inQueueOf, first = "sent" }: Situation) {
  const clock = createHeldClock();
  const signal = AbortSignal.abort();
  const stored: unknown[] = [];
  const deps = {
    clock,
    queue: {
      async settle([settlement]: readonly Settlement[]) {
        stored.push(settlement?.next);
        return [isOurs];
      },
      async release() {
        stored.push("back in line");
        return [true];
      },
      move: async (jobs: readonly MovedJob[]) => void stored.push(...jobs),
    },
    outletOf: (id: string) => openOutlet(id, 0),
    routeOf: () => inQueueOf && { ...inQueueOf.route, id: "route", connectorIds: ["busy", "other"] },
    prepare: () => ({ kind: "ready", message: { channel: "sms" } }),
    signal,
    unstored: createUnstored({ clock, signal, log: { info() {}, error() {} } }),
    isDeleted: async () => false,
  };
  const parts = [{ status: first, connectorId: "busy" }, { status: "pending" }] as const;
  const progress = sms({ parts });
  const job = claimedJob({
    jobId: 7,
    messageId: "m7",
    recipient: "+14155550701",
    progress,
    content: { channel: "sms" },
    expiresAt: clock.now() + 60_000,
  });
  const outlet = openOutlet(inQueueOf?.connectorId ?? "other", 1);
  const lease = { outlet, outlets: [outlet], leaseEndsMs: 60_000, isOurs: () => true, keep() {} };
  const send = createSendMessage(deps as unknown as SendMessageDeps);
  await send(
    job,
    inQueueOf
      ? { ...lease, failoverMode: undefined, isOwnQueue: true }
      : { ...lease, failoverMode: "always" },
  );
  return { again: { kind: "again", dueAt: clock.now() }, stored };
}

test("a message that only a busy connector may send waits in that one's own queue, where it is ready at once", async () => {
  const { again, stored } = await storedOf({ isOurs: true });
  expect(stored).toEqual([again, { jobId: 7, claim: 1, messageId: "m7", queue: "busy" }]);
});

test("a message that only a busy connector may send is left to whoever has taken it over meanwhile", async () => {
  const { again, stored } = await storedOf({ isOurs: false });
  expect(stored).toEqual([again]);
});

test("a message in a connector's own queue goes back to its route, without a word, once others may send it too", async () => {
  const inQueueOf = { connectorId: "busy", route: { failover: "always" as const } };
  const { again, stored } = await storedOf({ isOurs: true, inQueueOf, first: "unconfirmed" });
  expect(stored).toEqual([
    { ...again, isRepeat: true },
    { jobId: 7, claim: 1, messageId: "m7", queue: "route" },
  ]);
});

test("a message in a connector's own queue stays there as long as no other may send it", async () => {
  for (const first of ["sent", "unconfirmed"] as const) {
    const route = first === "sent" ? { failover: "always" as const } : {};
    const { stored } = await storedOf({ isOurs: true, inQueueOf: { connectorId: "busy", route }, first });
    expect(stored).toEqual(["back in line"]);
  }
});
