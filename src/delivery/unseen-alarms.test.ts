import { expect, test } from "bun:test";
import { openAlarmWatch, UP } from "./alarm-watch-world.contract.ts";

test("while the database is away no alarm is cleared, and what this process sees by itself is raised; each change is logged once", async () => {
  const { clock, world, watch, logged, names } = openAlarmWatch();
  const refused = { ...UP, alarm: "bind_refused", reason: "wrong password" } as const;
  world.settings = { alarm_connector_down_seconds: "20" };
  world.connectors = [{ id: "a", status: refused }];
  await clock.advance(0);
  await clock.advance(5_000);
  world.connectors = [{ id: "b", status: { ...UP, state: "down", reason: "refused" } }];
  world.isAway = true;
  await clock.advance(60_000);
  expect(names()).toEqual(["connector_bind_refused a", "connector_down b"]);
  world.connectors = [];
  await clock.advance(60_000);
  expect(names()).toEqual(["connector_bind_refused a", "connector_down b"]);
  world.isAway = false;
  await clock.advance(60_000);
  expect(names()).toEqual([]);
  const changed = (alarm: boolean) => [
    JSON.stringify({ alarm, alarm_name: "connector_bind_refused", subject: "a", reason: "wrong password" }),
    JSON.stringify({ alarm, alarm_name: "connector_down", subject: "b", reason: "refused" }),
  ];
  const [[raisedA, raisedB], [clearedA, clearedB]] = [changed(true), changed(false)];
  expect(logged).toEqual([
    `warn alarm: connector_bind_refused: ${raisedA}`,
    'warn alarms cannot be looked for; those that are raised stay: {"reason":"away"}',
    `warn alarm: connector_down: ${raisedB}`,
    "info alarms can be looked for again: {}",
    `info alarm cleared: connector_down: ${clearedB}`,
    `info alarm cleared: connector_bind_refused: ${clearedA}`,
  ]);
  await watch.stop();
  await clock.advance(60_000);
  expect(logged).toHaveLength(6);
});

test("what cannot be counted keeps no other alarm from being raised, and its own as they are, and the log says so once", async () => {
  const { clock, world, watch, logged, told } = openAlarmWatch();
  world.settings = { alarm_queue_age_seconds: "100", alarm_receipts_overdue: "10" };
  world.backlog = [{ queue: "q", ready: 1, oldestReadySince: clock.now() - 200_000 }];
  world.overdue = [{ connectorId: "a", parts: 10 }];
  world.connectors = [{ id: "a", status: UP }];
  await clock.advance(0);
  await clock.advance(5_000);
  expect(told.splice(0)).toEqual(["raised queue_too_old q", "raised receipts_overdue a"]);
  logged.length = 0;
  world.isUncounted.jobs = true;
  [world.backlog, world.overdue] = [[], []];
  world.connectors = [{ id: "a", status: { ...UP, alarm: "bind_refused" } }];
  await clock.advance(60_000);
  expect(told.splice(0)).toEqual(["raised connector_bind_refused a", "cleared receipts_overdue a"]);
  world.isUncounted = { jobs: false, receipts: true };
  await clock.advance(60_000);
  expect(told).toEqual(["cleared queue_too_old q"]);
  const unseen = "warn alarms cannot be looked for; those that are raised stay";
  expect(logged.filter((line) => line.includes("looked for"))).toEqual([
    `${unseen}: ${JSON.stringify({ alarm_name: "queue_too_old", reason: "jobs damaged" })}`,
    `${unseen}: ${JSON.stringify({ alarm_name: "receipts_overdue", reason: "receipts damaged" })}`,
    `info alarms can be looked for again: ${JSON.stringify({ alarm_name: "queue_too_old" })}`,
  ]);
  await watch.stop();
});

test("while the store does not answer it is asked once, and a stop waits for that", async () => {
  const { clock, world, watch } = openAlarmWatch();
  await clock.advance(0);
  const { promise, resolve } = Promise.withResolvers<void>();
  world.answers = promise;
  const before = world.asked;
  await clock.advance(60_000);
  expect(world.asked - before).toBe(1);
  let isStopped = false;
  const stopping = watch.stop().then(() => {
    isStopped = true;
  });
  await clock.advance(60_000);
  expect(isStopped).toBe(false);
  resolve();
  await stopping;
});

test("a disk that cannot be asked about silences no other alarm, and clears none", async () => {
  const { clock, world, told, watch } = openAlarmWatch();
  world.disk = { ...world.disk, free: 0 };
  await clock.advance(5_000);
  world.disk = { ...world.disk, size: 0 };
  world.connectors = [{ id: "c", status: { ...UP, alarm: "credentials_refused", reason: "401" } }];
  await clock.advance(60_000);
  expect(told).toEqual(["raised disk_low /data", "raised connector_credentials_refused c"]);
  await watch.stop();
});
