import { expect, test } from "bun:test";
import { claimedJob } from "../../test/claimed-job.ts";
import { createHeldClock, type HeldClock } from "../../test/fakes/held-clock.ts";
import { deferred, email, rejected, sent, sms, unconfirmed } from "../../test/progress-samples.ts";
import type { OutgoingMessage } from "../channels/channel.ts";
import type { Log } from "../core/log.ts";
import type { PartOutcome } from "../core/messages/outcome.ts";
import type { ClaimedJob, Settlement } from "../core/queue/claimed-job.ts";
import { damage } from "../store/outage.ts";
import { createUnstored, type Queue, StoreUnavailable } from "../store/store.ts";
import type { Outlet } from "./outlets/outlet.ts";
import { createSendMessage } from "./send-message.ts";
import type { Prepared } from "./sending/to-outgoing.ts";

const LEASE_MS = 60_000;
const SEND_TIMEOUT_MS = 20_000;

interface Making {
  readonly makingMs: number;
  readonly isOurs?: () => boolean;
  /** The database is away for so long, when the email is made and when its job is put back. */
  readonly awayMs?: number;
  readonly job?: Partial<ClaimedJob>;
  readonly made?: Prepared | Error;
  /** The process stops, and has waited long enough. */
  readonly isGivingUp?: boolean;
  /** Nothing can be stored, for another reason than that the database is away. */
  readonly isBroken?: boolean;
  /** The job is no longer this process's when its outcome is to be stored. */
  readonly isLost?: boolean;
  readonly answer?: PartOutcome;
}

const EMAIL = { kind: "ready", message: {} } as Prepared;

/** What was done with an email that takes so long to make, in order. */
async function sendOne({ isOurs = () => true, job, answer, ...making }: Making) {
  const clock = createHeldClock();
  const done: string[] = [];
  const outlet = openOutlet(done, "c", ...(answer ? [answer] : []));
  const send = openSender(clock, done, making);
  const leaseEndsMs = clock.monotonicMs() + LEASE_MS;
  const lease = { ...OURS, outlet, outlets: [outlet], leaseEndsMs, isOurs };
  let isDone = false;
  void send(claimed(clock, job), lease).then(() => {
    isDone = true;
  });
  await clock.advance(0);
  for (let past = 0; !isDone && past < LEASE_MS; past += 100) await clock.advance(100);
  return isDone ? done : [...done, "not done"];
}

function openSender(clock: HeldClock, done: string[], making: Making) {
  const signal = making.isGivingUp ? AbortSignal.abort() : new AbortController().signal;
  const log: Log = {
    isDebug: () => false,
    debug() {},
    info() {},
    warn: (_, words) => void (making.isLost && done.push(words)),
    error: (fields) => done.push(String(fields.err)),
  };
  return createSendMessage({
    ...openStore(clock, done, making),
    clock,
    random: () => 0.5,
    log,
    unstored: createUnstored({ clock, log, signal }),
    observe: {
      attempt() {},
      unconfirmed: () => done.push("unconfirmed"),
      droppedReceipts() {},
      droppedInbound() {},
    },
    outletOf: () => undefined,
    onLateRefusal: ({ outcome, claim, part = "all" }) => done.push(`${outcome.kind} under ${claim}: ${part}`),
    routeOf: () => undefined,
    isDeleted: async () => false,
    signal,
  });
}

function claimed(clock: HeldClock, job: Partial<ClaimedJob> = {}): ClaimedJob {
  return claimedJob({
    recipient: "ann@example.net",
    progress: email("ann@example.net"),
    createdAt: clock.now(),
    expiresAt: clock.now() + 3_600_000,
    content: { channel: "email" } as ClaimedJob["content"],
    ...job,
  });
}

/** One that answers as told, and says "sent" where nothing else was. */
function openOutlet(done: string[], connectorId = "c", ...answers: (PartOutcome | Error)[]): Outlet {
  const channel = {
    connectorId,
    sendTimeoutMs: SEND_TIMEOUT_MS,
    async send(_message: OutgoingMessage, _signal: AbortSignal, isOurs = () => true) {
      if (!isOurs()) done.push("taken over");
      done.push(connectorId === "c" ? "sent" : `sent by ${connectorId}`);
      const answer = answers.shift() ?? sent("x");
      if (answer instanceof Error) throw answer;
      return { parts: [answer], countsAsAttempt: true };
    },
  };
  return {
    channel,
    isUp: () => true,
    available: () => 1,
    health: () => ({ score: 1, problems: [] }),
    reserve() {},
    unreserve: (count: number) => done.push(`unreserved ${count}`),
    handOver: () => done.push("handed over"),
    noteAttempt() {},
  } as unknown as Outlet;
}

/** A store that is away for a while, and what is made of its job. */
function openStore(clock: HeldClock, done: string[], making: Making) {
  const { makingMs, awayMs = 0, made = EMAIL } = making;
  const whereItAnswers = () => {
    if (clock.monotonicMs() < awayMs) throw new StoreUnavailable("away");
  };
  const queue = {
    async release() {
      whereItAnswers();
      done.push("released");
      return [!making.isLost];
    },
    async settle([settlement]: readonly Settlement[]) {
      whereItAnswers();
      if (making.isBroken) throw new Error("broken");
      done.push(`settled: ${settlement?.next.kind}`);
      return [!making.isLost];
    },
  } as unknown as Queue;
  return {
    queue,
    async prepare() {
      await clock.advance(makingMs);
      whereItAnswers();
      if (made instanceof Error) throw made;
      return made;
    },
  };
}

/** A lease that is this process's. */
const OURS = { leaseEndsMs: LEASE_MS, isOurs: () => true, keep() {}, failoverMode: "safe" } as const;

const SENT = ["handed over", "sent", "settled: done"];
const PUT_BACK = ["unreserved 1", "released"];

test("a message that took long to make is sent while its lease outlasts the slowest answer, and else put back", async () => {
  expect(await sendOne({ makingMs: 30_000 })).toEqual(SENT);
  expect(await sendOne({ makingMs: LEASE_MS - SEND_TIMEOUT_MS })).toEqual(PUT_BACK);
});

test("a message that may be another process's by now is put back, however long its lease", async () => {
  expect(await sendOne({ makingMs: 0, isOurs: () => false })).toEqual(PUT_BACK);
  // It was when it was begun to be made.
  const answers = [true, false];
  expect(await sendOne({ makingMs: 0, isOurs: () => answers.shift() === true })).toEqual(PUT_BACK);
  // It was when it was handed over: the channel asks again before what has to wait.
  const later = [true, true, false];
  const [handedOver, ...rest] = await sendOne({ makingMs: 0, isOurs: () => later.shift() === true });
  expect([handedOver, rest[0]]).toEqual(["handed over", "taken over"]);
});

test("a message that cannot be made, or put back, while the database is away is in line again when that is back", async () => {
  expect(await sendOne({ makingMs: 0, awayMs: 100 })).toEqual(PUT_BACK);
  expect(await sendOne({ makingMs: 0, awayMs: 10_000 })).toEqual(PUT_BACK);
  expect(await sendOne({ makingMs: 0, awayMs: 10_000, isOurs: () => false })).toEqual(PUT_BACK);
});

test("a process that has waited long enough for answers begins nothing, and does not wait for a database that is away", async () => {
  expect(await sendOne({ makingMs: 0, isGivingUp: true })).toEqual(PUT_BACK);
  const [unreserved, error, ...rest] = await sendOne({ makingMs: 0, isGivingUp: true, awayMs: LEASE_MS });
  expect([unreserved, error, rest]).toEqual(["unreserved 1", expect.stringContaining("away"), []]);
});

test("what has less of its window left than can be told, or is settled, or may not be sent again is not handed over", async () => {
  const unsent = (next: string) => ["unreserved 1", `settled: ${next}`];
  const window = (ms: number) => ({ expiresAt: createHeldClock().now() + ms });
  const over = { progress: sms(), content: { channel: "sms" } as const, ...window(999) };
  expect(await sendOne({ makingMs: 0, job: over })).toEqual(unsent("done"));
  expect(await sendOne({ makingMs: 0, job: { ...over, ...window(1_000) } })).toEqual(SENT);
  expect(await sendOne({ makingMs: 0, job: window(0) })).toEqual(unsent("done"));
  expect(await sendOne({ makingMs: 0, job: window(1) })).toEqual(SENT);
  const settled = { ...email("ann@example.net"), status: "delivered" } as const;
  expect(await sendOne({ makingMs: 0, job: { progress: settled } })).toEqual(unsent("done"));
  expect(await sendOne({ makingMs: 0, made: { kind: "held" } })).toEqual(unsent("held"));
});

test("that a lease was lost is a warning only where something was sent: upkeep expires many messages that were just claimed", async () => {
  const lost = { makingMs: 0, isLost: true };
  expect(await sendOne(lost)).toEqual([...SENT, "a lease was lost before its attempt was recorded"]);
  const job = { expiresAt: createHeldClock().now() };
  expect(await sendOne({ ...lost, job })).toEqual(["unreserved 1", "settled: done"]);
});

/** An SMS of an account that holds what is in doubt. */
const HELD = { progress: sms(), content: { channel: "sms" }, settings: { on_unconfirmed: "hold" } } as const;

test("that a lost attempt has surely not sent a part is told where the account holds what is in doubt", async () => {
  const toldOf = async (answer: PartOutcome, job: Partial<ClaimedJob> = HELD, isLost = true) =>
    (await sendOne({ makingMs: 0, isLost, job, answer })).filter((each) => each.includes("under"));
  expect(await toldOf(deferred)).toEqual(["deferred under 1: 0"]);
  expect(await toldOf(rejected)).toEqual(["rejected under 1: 0"]);
  for (const answer of [unconfirmed, sent("x")]) expect(await toldOf(answer)).toEqual([]);
  expect(await toldOf(deferred, HELD, false)).toEqual([]);
  expect(await toldOf(deferred, { ...HELD, settings: {} })).toEqual([]);
  // A host that refuses a recipient of an email does so again.
  for (const answer of [deferred, rejected])
    expect(await toldOf(answer, { settings: HELD.settings })).toEqual(["deferred under 1: 0"]);
});

test("that a lost attempt has handed nothing over is told where the account holds what is in doubt", async () => {
  const putBack = (job: Partial<ClaimedJob>, isLost = true) =>
    sendOne({ makingMs: 0, isOurs: () => false, isLost, job });
  expect(await putBack(HELD)).toEqual([...PUT_BACK, "deferred under 1: all"]);
  expect(await putBack(HELD, false)).toEqual(PUT_BACK);
  expect(await putBack({ ...HELD, settings: {} })).toEqual(PUT_BACK);
  expect(await putBack({ settings: HELD.settings })).toEqual([...PUT_BACK, "deferred under 1: all"]);
  // It was put off before that, and by the time this can be stored another process has taken it over.
  const bug = { makingMs: 0, isLost: true, made: new Error("a bug") };
  expect((await sendOne({ ...bug, job: HELD })).at(-1)).toBe("deferred under 1: all");
  expect((await sendOne(bug)).at(-1)).toBe("settled: again");
});

test("an attempt that was interrupted counts as unconfirmed, also where it is sent again", async () => {
  expect(await sendOne({ makingMs: 0, job: { wasInterrupted: true } })).toEqual(["unconfirmed", ...SENT]);
});

test("a message that was interrupted for the 20th time is held, and its segments counted for it, unless that was interrupted too", async () => {
  const handled = async (interruptions: number, wasInterrupted = true) => {
    const clock = createHeldClock();
    const done: string[] = [];
    const outlet = openOutlet(done);
    const partsOf = () => done.push("counted");
    Object.assign(outlet.channel, { partsOf });
    const lease = { ...OURS, outlet, outlets: [outlet] };
    const message = { progress: sms({ parts: [] }), content: { channel: "sms" } } as const;
    const job = claimed(clock, { ...message, wasInterrupted, interruptions });
    const made = { kind: "ready", message: { channel: "sms" } } as Prepared;
    await openSender(clock, done, { makingMs: 0, made })(job, lease);
    return done;
  };
  expect(await handled(19)).toEqual(["unconfirmed", ...SENT]);
  expect(await handled(20, false)).toEqual(SENT);
  const held = ["unreserved 1", "settled: held"];
  expect(await handled(20)).toEqual(["unconfirmed", "counted", ...held]);
  expect(await handled(21)).toEqual(["unconfirmed", ...held]);
});

test("a message that went over another connector once is offered to the first again, where that one did not put it off", async () => {
  const clock = createHeldClock();
  const done: string[] = [];
  const send = openSender(clock, done, { makingMs: 0 });
  const outlets = [openOutlet(done, "a", deferred), openOutlet(done, "b", unconfirmed)];
  const [outlet = openOutlet(done)] = outlets;
  const job = claimed(clock, { progress: sms(), content: { channel: "sms" } });
  for (let round = 0; round < 3; round++)
    await send(job, { ...OURS, outlet, outlets, failoverMode: "always" });
  expect(done.filter((each) => each.startsWith("sent"))).toEqual(["sent by a", "sent by b", "sent by a"]);
});

test("a message that cannot be made does not come back at once, so that a database in trouble is not asked without a pause", async () => {
  const clock = createHeldClock();
  const done: string[] = [];
  const outlet = openOutlet(done);
  const lease = { ...OURS, outlet, outlets: [outlet] };
  void openSender(clock, done, { makingMs: 0, awayMs: 1 })(claimed(clock), lease);
  await clock.advance(0);
  await clock.advance(100);
  expect(done).toEqual([]);
  await clock.advance(400);
  expect(done).toEqual(PUT_BACK);
});

test("a message that a bug keeps from being made is tried again later, and not taken for one that may have been sent", async () => {
  const bug = { makingMs: 0, made: new Error("a bug") };
  const putOff = ["Error: a bug", "unreserved 1"];
  expect(await sendOne(bug)).toEqual([...putOff, "settled: again"]);
  expect(await sendOne({ ...bug, isBroken: true })).toEqual([...putOff, "Error: broken", "not done"]);
});

test("a message whose text is on a damaged page is tried again later, and does not go back in line at once, where it would be claimed again", async () => {
  expect(await sendOne({ makingMs: 0, made: damage("a page") })).toContain("settled: again");
});

test("what was handed over is never put back, whatever fails", async () => {
  const clock = createHeldClock();
  const done: string[] = [];
  const outlet = openOutlet(done, "a", new StoreUnavailable("in the channel"));
  await openSender(clock, done, { makingMs: 0 })(claimed(clock), { ...OURS, outlet, outlets: [outlet] });
  expect(done).toEqual(["handed over", "sent by a", "StoreUnavailable: in the channel"]);
  const kept = [...SENT.slice(0, 2), "Error: broken", "not done"];
  expect(await sendOne({ makingMs: 0, isBroken: true })).toEqual(kept);
});
