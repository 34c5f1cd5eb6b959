import { expect, test } from "bun:test";
import { claimedJob } from "../../test/claimed-job.ts";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { email, sms } from "../../test/progress-samples.ts";
import type { PartStatus } from "../core/messages/message.ts";
import type { ClaimedJob } from "../core/queue/claimed-job.ts";
import type { Route } from "../core/records/accounts.ts";
import { type AttemptDeps, createAttempt, type JobLease } from "./attempt.ts";
import type { Outlet } from "./outlets/outlet.ts";
import type { Prepared } from "./sending/to-outgoing.ts";

interface Given {
  readonly made?: Prepared;
  /** The connector that took a segment of it. */
  readonly owner?: Outlet;
  readonly outlets?: Readonly<Record<string, Outlet>>;
  readonly route?: Route;
  readonly over?: Partial<JobLease>;
}

/** The settlement of a message. */
function attempt(job: ClaimedJob, { made, owner, outlets, route, over }: Given) {
  const clock = createHeldClock();
  const deps = {
    clock,
    log: { isDebug: () => false },
    observe: { attempt() {}, unconfirmed() {} },
    prepare: () => made,
    random: () => 0.5,
    outletOf: (id: string) => outlets?.[id] ?? owner,
    routeOf: () => route,
    isDeleted: async () => false,
    signal: new AbortController().signal,
  } as unknown as AttemptDeps;
  const channel = { connectorId: "c", sendTimeoutMs: 20_000 };
  const outlet = { channel, unreserve() {} } as unknown as Outlet;
  const lease: JobLease = {
    outlet,
    outlets: [outlet],
    leaseEndsMs: clock.monotonicMs() + 60_000,
    isOurs: () => true,
    keep() {},
    failoverMode: "safe",
    ...over,
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

const STOPPED = { kind: "deferred", error: { code: "opted_out" } } as const;

test("what an earlier attempt may have sent is not failed by a STOP, which may be the answer to it: it waits for its receipts", async () => {
  const jobOf = (...statuses: PartStatus[]) => {
    const parts = statuses.map((status) => ({ status }));
    const content = { channel: "sms" } as const;
    return claimedJob({ recipient: "+14155550100", progress: sms({ parts }), content, isOptedOut: true });
  };
  const settled = async (job: ClaimedJob) => {
    const { outcomes, next } = (await attempt(job, {})) ?? {};
    return { outcomes, next };
  };
  const doubtful = jobOf("sent", "unconfirmed");
  const held = { kind: "held", dueAt: doubtful.expiresAt };
  expect(await settled(doubtful)).toMatchObject({ outcomes: [undefined, STOPPED], next: held });
  expect(await settled({ ...jobOf("pending"), wasInterrupted: true })).toMatchObject({
    outcomes: [{ kind: "unconfirmed" }],
    next: held,
  });
  // Nobody gets the whole of it any more.
  const whole = { outcomes: [STOPPED, { kind: "rejected" }], next: { kind: "done" } };
  expect(await settled(jobOf("unconfirmed", "pending"))).toMatchObject(whole);
  expect(await settled(jobOf("pending"))).toMatchObject({ outcomes: [{ kind: "rejected" }] });
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

test("an SMS in a connector's own queue stays there if the others of its route can never send it, and else goes back", async () => {
  const job = claimedJob({ recipient: "+14155550100", progress: sms({}), content: { channel: "sms" } });
  const outletOf = (connectorId: string, parts: number | undefined) => {
    const send = async () => ({ parts: [{ kind: "sent", providerMessageIds: [] }], countsAsAttempt: true });
    const channel = { connectorId, sendTimeoutMs: 20_000, partsOf: () => parts, send };
    const rest = { unreserve() {}, handOver() {}, noteAttempt() {}, largeLimit: {} };
    return { channel, ...rest } as unknown as Outlet;
  };
  const made = { kind: "ready", message: { channel: "sms" } } as Prepared;
  const queueFor = async (own: number | undefined, other: number | undefined) => {
    const outlets = { own: outletOf("own", own), other: outletOf("other", other) };
    const route = { id: "route", connectorIds: ["other", "own"] } as unknown as Route;
    const settlement = await attempt(job, {
      made,
      outlets,
      over: { outlet: outlets.own, outlets: [outlets.own], isOwnQueue: true },
      route,
    });
    return settlement?.moveTo ?? settlement?.next.kind;
  };
  expect(await queueFor(1, undefined)).toBe("done");
  expect(await queueFor(1, 1)).toBe("route");
  expect(await queueFor(undefined, undefined)).toBe("route");
});
