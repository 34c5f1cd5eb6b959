import { expect, test } from "bun:test";
import { claimedJob } from "../../test/claimed-job.ts";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { email, sent } from "../../test/progress-samples.ts";
import type { Channel } from "../channels/channel.ts";
import type { EmailContent } from "../core/messages/message.ts";
import { NOBODY_ELSE } from "../core/queue/claimant.ts";
import type { ClaimedJob, Settlement } from "../core/queue/claimed-job.ts";
import type { Connector, Route } from "../core/records/accounts.ts";
import type { Queue } from "../store/store.ts";
import { createEngine, type EngineDeps } from "./engine.ts";

const CONNECTOR: Connector = {
  id: "c",
  name: "relay",
  kind: "smtp",
  config: {},
  secrets: {},
  isEnabled: true,
  createdAt: 0,
};
const ROUTE: Route = { id: "r", channel: "email", match: "", connectorIds: ["c"], createdAt: 0 };

/** What the engine did: connectors that it opened, queues that it claimed from, messages that it sent, settlements. */
function createSeen() {
  return {
    opened: [] as string[],
    /** What the queue and the shares were told. */
    told: [] as string[],
    claims: [] as string[],
    sentBy: [] as string[],
    settled: [] as Settlement[],
  };
}
type Seen = ReturnType<typeof createSeen>;

function openChannel(connectorId: string, { sentBy, told }: Seen): Channel {
  return {
    connectorId,
    sendTimeoutMs: 20_000,
    start() {},
    freeSlots: () => 10,
    async send({ messageId, parts, only }) {
      sentBy.push(messageId);
      return {
        parts: parts.map((_, index) => (only?.includes(index) === false ? undefined : sent("x"))),
        countsAsAttempt: true,
      };
    },
    async stop() {
      told.push(`stop ${connectorId}`);
    },
    status: () => ({ state: "up", since: 0 }),
  };
}

/** Hands out `jobs` once, and settles them after `storing`. */
function openQueue(
  jobs: readonly ClaimedJob[],
  { claims, settled, told }: Seen,
  storing?: Promise<void>,
): Partial<Queue> {
  const left = [...jobs];
  return {
    onReady: () => () => void told.push("unsubscribe"),
    async claim({ queue }) {
      claims.push(queue);
      return left.splice(0);
    },
    async settle(all) {
      await storing;
      told.push("settle");
      settled.push(...all);
      return all.map(() => true);
    },
    backlog: async () => [],
    largeBody: async () => undefined,
  };
}

/** An engine with one connector and one route. Large texts have been wiped. */
function open(jobs: readonly ClaimedJob[] = [], suppressed: readonly string[] = [], storing?: Promise<void>) {
  const clock = createHeldClock();
  const seen = createSeen();
  let version = 0;
  let reading: Promise<void> | undefined;
  let failures = 0;
  const routes = [ROUTE];
  const reads: string[] = [];
  const deps = {
    queue: openQueue(jobs, seen, storing),
    receipts: {},
    records: {
      version: async () => version,
      async list(kind: string, _: object, { after, limit }: { after?: string; limit: number }) {
        await reading;
        reads.push(kind);
        if (failures-- > 0) throw new Error("away");
        if (kind === "connectors") return [CONNECTOR];
        const begin = after === undefined ? 0 : routes.findIndex(({ id }) => id === after) + 1;
        return routes.slice(begin, begin + limit);
      },
    },
    open({ id }: Connector) {
      seen.opened.push(id);
      return openChannel(id, seen);
    },
    findSenderDomain: async () => ({ isVerified: true }),
    suppressions: { find: async () => suppressed.map((each) => ({ email: each, reason: "complaint" })) },
    unsubscribeHeaders: async () => ({}),
    clock,
    random: () => 0.5,
    log: { isDebug: () => false, debug() {}, info() {}, warn() {}, error() {} },
    observe: { attempt() {}, unconfirmed() {}, droppedReceipts() {} },
    slotsOf: () => undefined,
    claimant: () => NOBODY_ELSE,
    shares: {
      leaveConnectors: () => void seen.told.push("leave connectors"),
    },
    builtIn: { connectors: [], routes: [] },
  };
  return {
    clock,
    engine: createEngine(deps as unknown as EngineDeps),
    reads,
    routes,
    ...seen,
    /** So many readings of the configuration fail. */
    fail: (count: number) => {
      failures = count;
    },
    /** Changes the configuration, which takes until `read` is called to be read. */
    change() {
      const { promise, resolve } = Promise.withResolvers<void>();
      reading = promise;
      version++;
      return { read: resolve };
    },
  };
}

test("a stop during the start opens nothing, and leaves no worker behind", async () => {
  const { clock, engine, opened, claims, change } = open();
  const { read } = change();
  const starting = engine.start();
  const stopping = engine.stop();
  read();
  await Promise.all([starting, stopping]);
  await clock.advance(10_000);
  expect([opened, claims]).toEqual([[], []]);
});

test("a configuration that is still being read when the stop begins, or read later, opens nothing any more", async () => {
  const { clock, engine, opened, claims, change } = open();
  await engine.start();
  await clock.advance(500);
  const before = [[...opened], [...claims]];
  const { read } = change();
  await clock.advance(600);
  const stopping = engine.stop();
  read();
  await stopping;
  change().read();
  await engine.reconcile();
  await clock.advance(10_000);
  expect([opened, claims]).toEqual(before);
});

test("a configuration is read once for each change, all of it, and again a second after it could not be", async () => {
  const { clock, engine, claims, change, fail, reads, routes } = open();
  routes.push(...Array.from({ length: 1_001 }, (_, index) => ({ ...ROUTE, id: `r-${index}` })));
  await engine.start();
  await clock.advance(2_000);
  expect(reads).toEqual(["connectors", "routes", "routes"]);
  expect(new Set(claims).size).toBe(1_002);
  routes.push({ ...ROUTE, id: "new" });
  fail(1);
  change().read();
  await clock.advance(1_000);
  expect(claims).not.toContain("new");
  await clock.advance(1_000);
  expect(claims).toContain("new");
  await engine.stop();
});

test("whoever asks for a change to be applied is told when it fails, and the next one is served", async () => {
  const { clock, engine, opened, change, fail } = open();
  await engine.start();
  await clock.advance(0);
  fail(1);
  change().read();
  const [failed, served] = await Promise.allSettled([engine.reconcile(), engine.reconcile()]);
  expect([failed.status, served.status, opened]).toEqual(["rejected", "fulfilled", ["c"]]);
  await engine.stop();
});

test("a stop leaves no timer and no listener, and leaves the connectors to others when they are closed", async () => {
  const { clock, engine, told } = open();
  await engine.start();
  await clock.advance(100);
  await engine.stop();
  expect(told).toEqual(["unsubscribe", "stop c", "leave connectors"]);
  expect(clock.pending()).toBe(0);
});

/** An email to both, as claimed. */
function jobOf(change: Partial<ClaimedJob> = {}, content: Partial<EmailContent> = {}): ClaimedJob {
  const [ann, bob] = ["ann@example.net", "bob@example.net"] as const;
  return claimedJob({
    recipient: ann,
    progress: email(ann, bob),
    content: {
      channel: "email",
      from: { email: "hello@acme.example" },
      to: [{ email: ann }, { email: bob }],
      subject: "News",
      ...content,
    },
    ...change,
  });
}

test("a stop closes the connectors once what they have sent is stored", async () => {
  const { promise: storing, resolve: store } = Promise.withResolvers<void>();
  const { clock, engine, sentBy, told } = open([jobOf()], [], storing);
  await engine.start();
  await clock.advance(100);
  const stopping = engine.stop();
  await clock.advance(1_000);
  expect([sentBy, told]).toEqual([["m"], ["unsubscribe"]]);
  store();
  await stopping;
  expect(told).toEqual(["unsubscribe", "settle", "stop c", "leave connectors"]);
});

async function workOff(job: ClaimedJob, suppressed: readonly string[] = []) {
  const { clock, engine, sentBy, settled } = open([job], suppressed);
  await engine.start();
  await clock.advance(100);
  await engine.stop();
  const [{ next, outcomes } = { outcomes: [] }] = settled;
  return [sentBy, next?.kind, ...outcomes.map((outcome) => outcome?.kind)];
}

test("an email whose large text has been wiped since it was claimed is not sent without it", async () => {
  const wiped = { isBodyApart: true } as const;
  expect(await workOff(jobOf({}, wiped))).toEqual([[], "done", "rejected", "rejected"]);
  // Bob is another job's.
  expect(await workOff(jobOf({ parts: [0] }, wiped))).toEqual([[], "done", "rejected", undefined]);
});

test("recipients on the suppression list are settled together with those that the email goes to", async () => {
  const [ann, bob] = ["ann@example.net", "bob@example.net"];
  expect(await workOff(jobOf())).toEqual([["m"], "done", "sent", "sent"]);
  expect(await workOff(jobOf(), [ann])).toEqual([["m"], "done", "rejected", "sent"]);
  expect(await workOff(jobOf(), [ann, bob])).toEqual([[], "done", "rejected", "rejected"]);
});

test("a suppressed recipient who may have got the email already is not said to have missed it, and waits for a receipt", async () => {
  const [ann, bob] = ["ann@example.net", "bob@example.net"];
  const { parts, ...progress } = email(ann, bob);
  const doubtful = { ...progress, parts: parts.map((part) => ({ ...part, status: "unconfirmed" as const })) };
  expect(await workOff(jobOf({ progress: doubtful }), [ann])).toEqual([["m"], "again", "deferred", "sent"]);
  expect(await workOff(jobOf({ progress: doubtful, parts: [0] }), [ann])).toEqual([
    [],
    "held",
    "deferred",
    undefined,
  ]);
});
