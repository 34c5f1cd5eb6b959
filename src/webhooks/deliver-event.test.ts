import { expect, test } from "bun:test";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import type { WebhookSettlement } from "../core/webhooks/webhook-outbox.ts";
import { createUnstored, StoreUnavailable } from "../store/store.ts";
import type { AttemptResult } from "./attempt-delivery.ts";
import { createDeliverEvent, createPutBack, type DeliverEventDeps } from "./deliver-event.ts";

const WEBHOOK = {
  id: 1,
  claim: 1,
  messageId: "m",
  sequence: 1,
  lane: { accountId: "a", host: "a.test" },
  url: "https://a.test/",
  failures: 0,
  body: "{}",
};

const SECONDS = 1_000;

const DELIVERED: AttemptResult = {
  verdict: { kind: "delivered" },
  attempt: { at: 0, ms: 7, status: 200 },
  health: { kind: "healthy" },
};

interface Circumstances extends Partial<DeliverEventDeps> {
  readonly leftMs?: number;
  readonly isOurs?: boolean;
  readonly failures?: number;
  /** For so long the database is away. */
  readonly awayMs?: number;
}

/** Begins to deliver one event, and writes down in order what comes of it. */
function begin({ leftMs = 60 * SECONDS, isOurs = true, failures = 0, awayMs = 0, ...deps }: Circumstances) {
  const clock = createHeldClock();
  const backMs = clock.monotonicMs() + awayMs;
  const settled: WebhookSettlement[] = [];
  const seen: unknown[] = [];
  const tell = (level: string) => (_: unknown, message: string) => void seen.push(`${level}: ${message}`);
  const log = { isDebug: () => false, debug() {}, info() {}, warn: tell("warn"), error: tell("error") };
  const { signal = new AbortController().signal } = deps;
  const deliverEvent = createDeliverEvent({
    outbox: {
      async settle(each) {
        if (clock.monotonicMs() < backMs) throw new StoreUnavailable("away");
        seen.push("settled");
        return each.map((one) => settled.push(one) > 0);
      },
    },
    attemptDelivery: async () => {
      seen.push("delivered");
      return DELIVERED;
    },
    secretsOf: async () => ["whsec_c2VjcmV0"],
    clock,
    random: () => 0.5,
    log,
    unstored: createUnstored({ clock, log, signal }),
    observe: (kind, ms) => void seen.push(["observed", kind, ms]),
    signal,
    ...deps,
  });
  const release = (...released: unknown[]) => void seen.push(["room", ...released]);
  const permit = { isForNewest: false, release };
  const keep = () => void (awayMs === 0 && seen.push("kept"));
  const lease = { endsMs: clock.monotonicMs() + leftMs, isOurs: () => isOurs, keep };
  return { clock, settled, seen, end: deliverEvent({ ...WEBHOOK, failures }, permit, lease) };
}

/** What becomes of one event, and how often it was delivered. */
async function outcomeOf(circumstances: Circumstances) {
  const { clock, settled, seen, end } = begin(circumstances);
  // Delivers first.
  await clock.advance(0);
  await clock.advance(circumstances.awayMs ?? 0);
  await end;
  return [seen.filter((each) => each === "delivered").length, settled.map(({ verdict }) => verdict.kind)];
}

test("an event is delivered while its lease lasts and is this process's, and else put back", async () => {
  expect(await outcomeOf({ leftMs: 60 * SECONDS })).toEqual([1, ["delivered"]]);
  expect(await outcomeOf({ leftMs: 25 * SECONDS })).toEqual([1, ["delivered"]]);
  expect(await outcomeOf({ leftMs: 25 * SECONDS - 1 })).toEqual([0, ["released"]]);
  expect(await outcomeOf({ isOurs: false })).toEqual([0, ["released"]]);
});

test("the time that a lease has left is counted when its secrets are there", async () => {
  const { promise, resolve } = Promise.withResolvers<readonly string[]>();
  const { clock, settled, end } = begin({ leftMs: 60 * SECONDS, secretsOf: () => promise });
  await clock.advance(40 * SECONDS);
  resolve(["whsec_c2VjcmV0"]);
  await end;
  expect(settled.map(({ verdict }) => verdict.kind)).toEqual(["released"]);
});

test("what a receiver took while the database was away is recorded once it is back, and not delivered again", async () => {
  expect(await outcomeOf({ awayMs: 90 * SECONDS })).toEqual([1, ["delivered"]]);
});

test("the place is free as soon as the answer is there, however long recording it takes", async () => {
  const { clock, seen, end } = begin({ awayMs: 1 * SECONDS });
  await clock.advance(0);
  const before = ["delivered", ["room", { kind: "healthy" }, 7, WEBHOOK.url], ["observed", "delivered", 7]];
  expect(seen).toEqual(before);
  expect(await Promise.race([end, Promise.resolve("under way")])).toBe("under way");
  await clock.advance(1 * SECONDS);
  await end;
  expect(seen).toEqual([...before, "settled"]);
});

test("an event whose secrets cannot be read is left to the end of its lease, and its place is free", async () => {
  const { seen, settled, end } = begin({ secretsOf: () => Promise.reject(new Error("away")) });
  await end;
  expect([seen, settled]).toEqual([
    ["error: a webhook could not be tried", ["room", { kind: "unknown" }, 0, WEBHOOK.url]],
    [],
  ]);
});

test("secrets that cannot be read since the database is away are a warning, as all that it keeps waiting", async () => {
  const { seen, settled, end } = begin({ secretsOf: () => Promise.reject(new StoreUnavailable("away")) });
  await end;
  expect([seen, settled]).toEqual([
    ["warn: a webhook could not be tried", ["room", { kind: "unknown" }, 0, WEBHOOK.url]],
    [],
  ]);
});

test("an event without a secret to sign it is not sent, which counts as a failure, to the last one", async () => {
  const secretsOf = async () => [];
  const first = begin({ secretsOf });
  await first.end;
  expect(first.settled).toMatchObject([
    {
      verdict: { kind: "again", at: first.clock.now() + 5 * SECONDS },
      attempt: { at: first.clock.now(), ms: 0, error: { code: "no_secret" } },
    },
  ]);
  expect(first.seen[0]).toEqual(["room", { kind: "unknown" }, 0, WEBHOOK.url]);
  const last = begin({ secretsOf, failures: 8 });
  await last.end;
  expect(last.settled).toMatchObject([{ verdict: { kind: "ended", reason: "spent" } }]);
  expect(last.seen).toContain("warn: a webhook has failed");
});

test("nothing is begun once the program ends, and the event is put back", async () => {
  expect(await outcomeOf({ signal: AbortSignal.abort() })).toEqual([0, ["released"]]);
});

test("an event that is put back counts as not tried, and stays claimed as long as the store refuses that", async () => {
  const clock = createHeldClock();
  const logged: string[] = [];
  const log = {
    isDebug: () => false,
    debug() {},
    info() {},
    warn() {},
    error: (_: unknown, message: string) => void logged.push(message),
  };
  const settled: WebhookSettlement[] = [];
  let isRefused = false;
  const settle: DeliverEventDeps["outbox"]["settle"] = async (each) => {
    if (isRefused) throw new Error("a bug");
    return each.map((one) => settled.push(one) > 0);
  };
  const unstored = createUnstored({ clock, log, signal: new AbortController().signal });
  const putBack = createPutBack({ outbox: { settle }, unstored, clock, log });
  const lease = { endsMs: 60 * SECONDS, isOurs: () => true, keep: () => void logged.push("kept") };
  const released = { id: 1, messageId: "m", claim: 1, verdict: { kind: "released" } };
  await putBack(WEBHOOK, lease);
  expect(settled).toMatchObject([released]);
  isRefused = true;
  const end = putBack(WEBHOOK, lease);
  await clock.advance(60 * SECONDS);
  expect([settled.length, logged]).toEqual([
    1,
    ["a result cannot be stored; it is kept, and tried again", "kept"],
  ]);
  isRefused = false;
  await clock.advance(60 * SECONDS);
  await end;
  expect(settled).toHaveLength(2);
});

test("a result that cannot be recorded before the program ends is given up", async () => {
  const ending = new AbortController();
  const { clock, seen, end } = begin({ awayMs: 90 * SECONDS, signal: ending.signal });
  await clock.advance(10 * SECONDS);
  ending.abort();
  await end;
  expect(seen.at(-1)).toBe("warn: a webhook's delivery could not be recorded");
  expect(clock.pending()).toBe(0);
});

test("a result that the store refuses is kept and offered again, in the end once a minute, and the event is not delivered again", async () => {
  let offered = 0;
  const settle: DeliverEventDeps["outbox"]["settle"] = async (each) => {
    offered++;
    if (offered < 12) throw new Error("a bug");
    return each.map(() => true);
  };
  const { clock, seen, end } = begin({ outbox: { settle } });
  await clock.advance(0);
  expect(seen.slice(-2)).toEqual(["error: a result cannot be stored; it is kept, and tried again", "kept"]);
  await clock.advance(64 * SECONDS);
  expect(offered).toBe(8);
  await clock.advance(240 * SECONDS);
  await end;
  expect([offered, clock.pending()]).toEqual([12, 0]);
  expect(seen.filter((each) => each === "delivered")).toHaveLength(1);
});
