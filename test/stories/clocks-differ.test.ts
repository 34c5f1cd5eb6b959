/** Two processes on one PostgreSQL, of which one has a clock that is ten minutes ahead. */
import { afterEach, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { reached } from "../admin.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { freshDatabase } from "../postgres-database.ts";
import { makeDataFolder, type StartOptions, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

const LATER = fileURLToPath(new URL("../fakes/later.ts", import.meta.url));

/** Longer than any lease. */
const AHEAD = { preload: LATER, env: { AHEAD_MS: "600000", LEAP_MS: "0" } };

/** Seconds, of which half of what the question takes on its way may be: on a busy machine that is some. */
const DOUBT_S = 10;

const AHEAD_METRIC = /^postrider_clock_ahead_of_database_seconds (\S+)$/m;

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function openDatabase() {
  const folder = makeDataFolder();
  const database = await freshDatabase();
  closing.push(database.drop, folder.remove);
  return async (options: StartOptions) => {
    const service = await startPostrider({ dataFolder: folder.path, databaseUrl: database.url, ...options });
    closing.push(async () => {
      service.kill("SIGKILL");
      await service.exited;
    });
    return service;
  };
}

async function startSmsc(...dial: Parameters<typeof startFakeSmsc>) {
  const smsc = await startFakeSmsc(...dial);
  closing.push(smsc.close);
  return smsc;
}

test("what one has on the wire the other does not take for interrupted, and the operator hears of the clocks", async () => {
  const start = await openDatabase();
  const smsc = await startSmsc({ receipts: "after", holdSubmits: true });
  const busy = await startSmsc({ receipts: "after", throttle: 1 });
  const one = await start({});
  const live = await openLiveSms(one, { connectors: [await connectSmsc(one, smsc)] });
  const other = await openLiveSms(one, { connectors: [await connectSmsc(one, busy)] });
  await smsc.until(() => smsc.bound().length === 1);
  const messages = await Promise.all([1, 2, 3].map((n) => live.send(`+1415555192${n}`)));
  await smsc.until(() => smsc.submits.length === messages.length);

  const two = await start({ ...AHEAD, sandbox: one.sandbox });
  const line = await two.line(/the database's differ/);
  expect(JSON.parse(line)).toMatchObject({ level: "warn", ahead_seconds: 600 });
  const metrics = await (await fetch(`${two.url}/metrics`)).text();
  expect(Math.abs(Number(AHEAD_METRIC.exec(metrics)?.[1]) - 600)).toBeLessThan(DOUBT_S);
  // A retry waits a second for a sweep: both have swept by then.
  const { status } = await reached(one, await other.send("+14155551929"), "delivered", "failed");
  expect([status, busy.submits.length]).toEqual(["delivered", 2]);
  smsc.release();
  for (const message of messages) {
    expect(await reached(one, message, "delivered", "failed")).toMatchObject({ status: "delivered" });
    expect((await live.timeline(message)).map(({ kind }) => kind)).toEqual(["attempt", "receipt"]);
  }
  expect(smsc.submits).toHaveLength(messages.length);
}, 120_000);

test("clocks that agree are nothing to speak of", async () => {
  const start = await openDatabase();
  const service = await start({});
  const look = async () => AHEAD_METRIC.exec(await (await fetch(`${service.url}/metrics`)).text())?.[1];
  const ahead = await until(look);
  expect(Math.abs(Number(ahead))).toBeLessThan(DOUBT_S);
  expect(service.output()).not.toContain("differ");
}, 120_000);
