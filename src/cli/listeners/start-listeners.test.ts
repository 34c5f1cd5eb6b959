import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { testTls } from "../../../test/fakes/test-tls.ts";
import { folderUntilTheEnd } from "../../../test/temp-folder.ts";
import { until } from "../../../test/until.ts";
import { openSqliteStore } from "../../store/open-store.ts";
import { createLockMemory } from "../../store/sqlite/database/write-lock.ts";
import { createListeners, type Listeners } from "./start-listeners.ts";

const folder = folderUntilTheEnd("postrider-listeners-");

/** What the threads of a test do. Each then ends when it is told to. */
const PLANS = {
  turns: `const told = new Int32Array(shared.memory);
    const wait = () => void Atomics.waitAsync(told, 0, 0).value.then(() => {
      if (shared.share.index === 2)
        port.postMessage({ kind: "turn", answered: [{ operation: "sendSms", status: 202, ms: [7] }], lateMs: [3] });
    });
    wait();`,
  accepts: `setImmediate(() => port.postMessage({ kind: "ready", queues: ["route of " + shared.share.index] }));`,
  renews: `port.on("message", ({ kind, tls }) => {
      if (kind === "renew") port.postMessage({ kind: "renewed", problem: tls.cert === "none" ? "no certificate" : undefined });
    });`,
  throws: `setImmediate(() => { throw new Error("no memory"); });`,
  exits: "setImmediate(() => process.exit(3));",
} as const;

let listeners: Listeners;
const clock = createHeldClock();

function open(program: string, memory = createLockMemory()) {
  const path = join(folder, `${Bun.hash(program)}.ts`);
  writeFileSync(path, program);
  const lost: string[] = [];
  const seen: unknown[] = [];
  listeners = createListeners({
    count: 2,
    program: pathToFileURL(path),
    setup: { host: "127.0.0.1", dataFolder: folder, masterKey: "", logLevel: "silent", trustedProxies: [] },
    memory,
    clock,
    observe: {
      request: (request) => void seen.push(request),
      timer: (thread, lateMs) => void seen.push([thread, lateMs]),
    },
    onLost: (error) => void lost.push(error.message),
  });
  return { lost, seen, start: () => listeners.start(1, () => Promise.reject(new Error("not asked"))) };
}

const programOf = (
  plan: keyof typeof PLANS,
) => `import { parentPort as port, workerData } from "node:worker_threads";
  const { shared } = workerData;
  port.on("message", ({ kind }) => {
    if (kind !== "drain") return;
    port.postMessage({ kind: "closed" });
    port.close();
  });
  ${PLANS[plan]}
  port.postMessage({ kind: "open" });`;

for (const [plan, reason] of [
  ["throws", "no memory"],
  ["exits", "a listener thread ended with code 3"],
] as const) {
  test(`a thread that ${plan} is told of, since its clients have nobody, and keeps no stop waiting`, async () => {
    const { lost, start } = open(programOf(plan));
    await start();
    await until(async () => lost.length === 2);
    expect(lost).toEqual([reason, reason]);
    await listeners.stop();
  });
}

test("a thread that cannot listen fails the start with its reason, and keeps no stop waiting", async () => {
  const { lost, start } = open(`throw new Error("the port is taken");`);
  await expect(start()).rejects.toThrow("the port is taken");
  await listeners.stop();
  expect(lost).toEqual([]);
});

test("another certificate is taken once all threads show it, and each says why it does not", async () => {
  const { start } = open(programOf("renews"));
  await start();
  await listeners.renew(testTls);
  const refused = listeners.renew({ cert: "none", key: "" }).catch(({ message }) => message);
  expect(await refused).toBe("no certificate");
  await listeners.renew(testTls);
  await listeners.stop();
});

test("a thread that ends before it shows another certificate keeps nobody waiting for that", async () => {
  const { start } = open(programOf("turns"));
  await start();
  const renewing = listeners.renew(testTls);
  await listeners.stop();
  await renewing;
});

test("who waits for jobs of the queue hears of those that the threads accept", async () => {
  const options = { dataFolder: folder, masterKey: "a key that is long enough", randomBytes, now: clock.now };
  const store = await openSqliteStore(options);
  const { start } = open(programOf("accepts"));
  const heard: string[] = [];
  const leave = listeners.heard(store.queue).onReady((queue) => void heard.push(queue));
  await start();
  await until(async () => heard.length === 2);
  expect(heard.toSorted()).toEqual(["route of 1", "route of 2"]);
  leave();
  await listeners.stop();
  await store.close();
});

test("a thread whose loop stands still is named, until it turns, and what it did is counted for it", async () => {
  const memory = createLockMemory();
  const { lost, seen, start } = open(programOf("turns"), memory);
  await start();
  await clock.advance(5_000);
  expect(listeners.stalled(5_000)).toEqual([]);
  await clock.advance(1);
  expect(listeners.stalled(5_000)).toEqual(["listener 1", "listener 2"]);
  Atomics.notify(new Int32Array(memory), 0);
  await until(async () => listeners.stalled(5_000).length === 1);
  expect(listeners.stalled(5_000)).toEqual(["listener 1"]);
  expect(seen).toEqual([{ operation: "sendSms", status: 202, ms: 7 }, ["listener 2", 3]]);
  await listeners.stop();
  expect(lost).toEqual([]);
});
