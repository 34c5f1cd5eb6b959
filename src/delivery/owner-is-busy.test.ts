/** A message that only one connector may send, which is up and has no free slot in this process. */
import { expect, test } from "bun:test";
import { claimedJob } from "../../test/claimed-job.ts";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { sms } from "../../test/progress-samples.ts";
import type { Settlement } from "../core/queue/claimed-job.ts";
import type { MovedJob } from "../store/store.ts";
import type { Outlet } from "./outlets/outlet.ts";
import { createSendMessage, type SendMessageDeps } from "./send-message.ts";

function openOutlet(connectorId: string, free: number): Outlet {
  const channel = { connectorId, sendTimeoutMs: 20_000 };
  return { channel, isUp: () => true, available: () => free, unreserve() {} } as unknown as Outlet;
}

/** What is stored of the message. `isOurs`: its lease lasts until then. */
async function storedOf({ isOurs }: { readonly isOurs: boolean }) {
  const clock = createHeldClock();
  const stored: unknown[] = [];
  const deps = {
    clock,
    queue: {
      async settle([settlement]: readonly Settlement[]) {
        stored.push(settlement?.next);
        return [isOurs];
      },
      move: async (jobs: readonly MovedJob[]) => void stored.push(...jobs),
    },
    outletOf: (id: string) => openOutlet(id, 0),
    deleted: { includes: async () => false },
  };
  const parts = [{ status: "sent", connectorId: "busy" }, { status: "pending" }] as const;
  const progress = sms({ parts });
  const job = claimedJob({
    jobId: 7,
    recipient: "+14155550701",
    progress,
    content: { channel: "sms" },
    expiresAt: clock.now() + 60_000,
  });
  const outlet = openOutlet("other", 1);
  const lease = { outlet, outlets: [outlet], leaseEndsMs: 60_000, isOurs: () => true };
  const send = createSendMessage(deps as unknown as SendMessageDeps);
  await send(job, { ...lease, failoverMode: "always" });
  return { again: { kind: "again", dueAt: clock.now() }, stored };
}

test("it waits in that connector's own queue, where it is ready at once", async () => {
  const { again, stored } = await storedOf({ isOurs: true });
  expect(stored).toEqual([again, { jobId: 7, claim: 1, queue: "busy" }]);
});

test("it is left to whoever has taken it over meanwhile", async () => {
  const { again, stored } = await storedOf({ isOurs: false });
  expect(stored).toEqual([again]);
});
