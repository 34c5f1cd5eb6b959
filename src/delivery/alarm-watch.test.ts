import { expect, test } from "bun:test";
import { openAlarmWatch, UP } from "./alarm-watch-world.contract.ts";

test("a connector that is not up alarms after its time, one whose login is refused at once, each with its reason", async () => {
  const { clock, world, watch, names } = openAlarmWatch();
  world.settings = { alarm_connector_down_seconds: "20" };
  world.connectors = [
    { id: "a", status: { ...UP, state: "down", reason: "refused" } },
    { id: "b", status: { ...UP, state: "connecting" } },
    { id: "c", status: { ...UP, alarm: "credentials_refused", reason: "401" } },
    { id: "d", status: { ...UP, state: "down", alarm: "bind_refused" } },
    { id: "e", status: UP },
    { id: "f", status: { ...UP, state: "stopped" } },
  ];
  await clock.advance(0);
  await clock.advance(5_000);
  expect(names()).toEqual(["connector_bind_refused d", "connector_credentials_refused c"]);
  await clock.advance(15_000);
  expect(watch.alarms().map(({ name, subject, reason }) => [name, subject, reason])).toEqual([
    ["connector_bind_refused", "d", "it is down"],
    ["connector_credentials_refused", "c", "401"],
    ["connector_down", "a", "refused"],
    ["connector_down", "b", "it is connecting"],
    ["connector_down", "d", "it is down"],
  ]);
  await watch.stop();
});

test("a connector that fails most of what it is given alarms at once, with how, and since when it has", async () => {
  const { clock, world, watch, told } = openAlarmWatch();
  const error = { code: "smpp.0x00000400", message: "an error of this vendor" };
  const failing = { lastedMs: 320_000, sent: 1, deferred: 0, rejected: 39, unconfirmed: 0, error };
  world.connectors = [
    { id: "a", status: UP, failing },
    { id: "b", status: UP },
  ];
  await clock.advance(5_000);
  expect(told).toEqual(["raised connector_failing a"]);
  const [alarm] = watch.alarms();
  expect(alarm?.reason).toBe(
    "40 attempts in 5 minutes: 1 sent, 39 rejected; the last error: an error of this vendor (smpp.0x00000400)",
  );
  expect((alarm?.raisedAt ?? 0) - (alarm?.since ?? 0)).toBe(320_000);
  world.connectors = [{ id: "a", status: UP }];
  await clock.advance(60_000);
  expect(told).toEqual(["raised connector_failing a", "cleared connector_failing a"]);
  await watch.stop();
});

test("a queue alarms at its limit of age, and until its oldest job is half as old", async () => {
  const { clock, world, watch, told } = openAlarmWatch();
  world.settings = { alarm_queue_age_seconds: "100" };
  const setAge = async (seconds: number | undefined) => {
    const oldestReadySince = seconds === undefined ? undefined : clock.now() + 5_000 - seconds * 1_000;
    world.backlog = [{ queue: "q", ready: 1, ...(oldestReadySince && { oldestReadySince }) }];
    await clock.advance(5_000);
  };
  await clock.advance(0);
  for (const age of [undefined, 99, 100]) {
    expect(told).toEqual([]);
    await setAge(age);
  }
  expect(told).toEqual(["raised queue_too_old q"]);
  expect(watch.alarms()[0]?.reason).toBe("its oldest job has been due for 100 s");
  for (let looks = 0; looks < 10; looks++) await setAge(50);
  expect(told).toHaveLength(1);
  for (let looks = 0; looks < 8; looks++) await setAge(49);
  expect(told).toEqual(["raised queue_too_old q", "cleared queue_too_old q"]);
  await watch.stop();
});

test("an old queue's alarm says of each connector that it waits for how that is", async () => {
  const { clock, world, watch } = openAlarmWatch();
  world.backlog = [{ queue: "q", ready: 1, oldestReadySince: clock.now() - 400_000 }];
  world.queueConnectors = [
    {
      name: "airtel",
      status: {
        ...UP,
        rate: { perSecond: 1.42, isReduced: true },
        health: { score: 0.45, problems: ["throttled"] },
      },
    },
    { name: "jio", status: { ...UP, state: "down", reason: "refused" } },
    { name: "vi", status: UP },
    { name: "bsnl" },
  ];
  await clock.advance(0);
  await clock.advance(5_000);
  expect(watch.alarms()[0]?.reason).toBe(
    "its oldest job has been due for 405 s; airtel is up, health 0.45: throttled (1.4 a second); jio is down, refused; vi is up; bsnl is disabled",
  );
  await watch.stop();
});

test("overdue receipts alarm at their limit and until half of them have come, of connectors that run; never at 0", async () => {
  const { clock, world, watch, told } = openAlarmWatch();
  world.settings = { alarm_receipts_overdue: "10" };
  world.connectors = [{ id: "a", status: UP }];
  const look = async (parts: number, looks = 1) => {
    world.overdue = [
      { connectorId: "a", parts },
      { connectorId: "gone", parts: 1_000 },
    ];
    await clock.advance(looks * 5_000);
  };
  await clock.advance(0);
  await look(9);
  expect(told).toEqual([]);
  await look(10);
  await look(5, 10);
  expect(told).toEqual(["raised receipts_overdue a"]);
  expect(watch.alarms()[0]?.reason).toBe("5 segments have no receipt in time");
  await look(4, 8);
  expect(told).toEqual(["raised receipts_overdue a", "cleared receipts_overdue a"]);
  world.settings = { alarm_receipts_overdue: "0" };
  await look(1_000);
  expect(told).toHaveLength(2);
  await watch.stop();
});

test("a clock that is set neither raises an alarm early, nor delays or keeps one", async () => {
  const { clock, world, watch, told } = openAlarmWatch();
  world.settings = { alarm_connector_down_seconds: "60" };
  world.connectors = [{ id: "a", status: { ...UP, state: "down" } }];
  await clock.advance(30_000);
  world.aheadMs = 3_600_000;
  await clock.advance(5_000);
  expect(told).toEqual([]);
  world.aheadMs = -86_400_000;
  await clock.advance(30_000);
  expect(told).toEqual(["raised connector_down a"]);
  world.connectors = [];
  await clock.advance(5_000);
  world.aheadMs = -2 * 86_400_000;
  await clock.advance(30_000);
  expect(told).toEqual(["raised connector_down a", "cleared connector_down a"]);
  await watch.stop();
});

test("little room on the disk alarms at once, until a quarter more than the limit is free; on a small disk the limit is a tenth of it", async () => {
  const { clock, world, told, watch } = openAlarmWatch();
  world.disk = { ...world.disk, free: 999_000_000 };
  await clock.advance(5_000);
  expect(told).toEqual(["raised disk_low /data"]);
  expect(watch.alarms()[0]?.reason).toBe("999 MB are free: on a full disk nothing is accepted");
  world.disk = { ...world.disk, free: 1_200_000_000 };
  await clock.advance(60_000);
  expect(told).toHaveLength(1);
  world.disk = { ...world.disk, free: 1_300_000_000 };
  await clock.advance(35_000);
  expect(told.splice(0)).toEqual(["raised disk_low /data", "cleared disk_low /data"]);
  world.disk = { folder: "/data", free: 110_000_000, size: 1_000_000_000 };
  await clock.advance(5_000);
  expect(told).toEqual([]);
  world.disk = { ...world.disk, free: 90_000_000 };
  await clock.advance(5_000);
  expect(told).toEqual(["raised disk_low /data"]);
  world.settings = { alarm_free_disk_mb: "0" };
  await clock.advance(40_000);
  expect(told).toHaveLength(2);
  await watch.stop();
});

test("that results cannot be stored alarms at once, until they are", async () => {
  const { clock, world, watch, told } = openAlarmWatch();
  world.unstored = 3;
  await clock.advance(0);
  await clock.advance(5_000);
  expect(watch.alarms().map(({ name, reason }) => [name, reason])).toEqual([
    ["results_unstored", expect.stringContaining("3 messages")],
  ]);
  world.unstored = 0;
  await clock.advance(40_000);
  expect(told).toEqual(["raised results_unstored database", "cleared results_unstored database"]);
});
