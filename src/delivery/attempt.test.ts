import { expect, test } from "bun:test";
import { claimedJob } from "../../test/claimed-job.ts";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { email, sms } from "../../test/progress-samples.ts";
import type { ClaimedJob } from "../core/queue/claimed-job.ts";
import { type AttemptDeps, createAttempt, type JobLease } from "./attempt.ts";
import type { Outlet } from "./outlets/outlet.ts";
import type { Prepared } from "./sending/to-outgoing.ts";

/** The settlement of a message that is not handed over; `owner`: the connector that took a segment of it. */
function attempt(job: ClaimedJob, { made, owner }: { readonly made?: Prepared; readonly owner?: Outlet }) {
  const clock = createHeldClock();
  const deps = {
    clock,
    log: { isDebug: () => false },
    observe: { attempt() {} },
    toOutgoing: () => made,
    outletOf: () => owner,
    routeOf: () => undefined,
    deleted: { includes: async () => false },
    signal: new AbortController().signal,
  } as unknown as AttemptDeps;
  const channel = { connectorId: "c", sendTimeoutMs: 20_000 };
  const outlet = { channel, unreserve() {} } as unknown as Outlet;
  const lease: JobLease = {
    outlet,
    outlets: [outlet],
    leaseEndsMs: clock.monotonicMs() + 60_000,
    isOurs: () => true,
    failoverMode: "safe",
  };
  return createAttempt(deps)(job, lease);
}

test("that an email cannot be sent any more is said of the recipient whose job it is, not of one whose attempt may be under way", async () => {
  const progress = email("ann@example.net", "bob@example.net");
  const content = { channel: "email" } as ClaimedJob["content"];
  const job = claimedJob({ recipient: "", progress, content, parts: [1] });
  const error = { code: "domain_not_verified", message: "the sender's domain is no longer verified" };
  const settlement = await attempt(job, { made: { kind: "impossible", error } });
  expect(settlement?.outcomes).toEqual([undefined, { kind: "rejected", error }]);
});

test("an SMS whose first segment went over a connector that is down waits in its route's queue, and in the connector's own once that is up", async () => {
  const progress = sms({ parts: [{ status: "sent", connectorId: "owner" }, { status: "pending" }] });
  const job = claimedJob({ recipient: "+14155550100", progress, content: { channel: "sms" } });
  const queueFor = async (isUp: boolean) => {
    const owner = { isUp: () => isUp, downMs: () => 0, available: () => 0 } as unknown as Outlet;
    return (await attempt(job, { owner }))?.moveTo;
  };
  expect(await queueFor(false)).toBeUndefined();
  expect(await queueFor(true)).toBe("owner");
});
