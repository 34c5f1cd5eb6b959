/** The disk of the data folder fills up: somebody is told before nothing is accepted any more. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { statfsSync } from "node:fs";
import { diskOf } from "../../src/cli/data-folder/disk-of.ts";
import { type AlarmRig, startAlarmRig } from "../alarm-rig.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc } from "../live-sms.ts";

const MB = 1_000_000;

let rig: AlarmRig;
let freeMb: number;
/** Without an end while the disk does not answer. */
let answered: Promise<void>;
let asked: number;
/** What the data folder is called. */
let named: string | undefined;
beforeEach(async () => {
  freeMb = 4_000;
  named = undefined;
  answered = Promise.resolve();
  asked = 0;
  rig = await startAlarmRig({
    async diskOf(folder) {
      asked++;
      await answered;
      return { folder: named ?? folder, free: freeMb * MB, size: 50_000 * MB };
    },
  });
});
afterEach(() => rig.stop());

test("a disk with less than a gigabyte free alarms, until there is room again", async () => {
  await rig.service.pass(10_000);
  expect(await rig.alarms()).toEqual([]);
  freeMb = 900;
  await rig.service.passUntil(() => rig.told().includes("alarm.raised disk_low"), 30_000);
  const subject = rig.service.dataFolder;
  expect(await rig.alarms()).toMatchObject([
    { name: "disk_low", subject, reason: expect.stringMatching(/^900 MB/) },
  ]);
  expect(await rig.metric()).toEqual([`postrider_alarm{name="disk_low",subject="${subject}"} 1`]);
  freeMb = 2_000;
  await rig.service.passUntil(() => rig.told().includes("alarm.cleared disk_low"), 60_000);
});

test("a disk that does not answer is asked once and keeps no other alarm silent, and is asked again once it has answered", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  answered = promise;
  asked = 0;
  await rig.service.passUntil(
    () => rig.service.logged.some(({ reason }) => NO_ANSWER.test(`${reason}`)),
    30_000,
  );
  const smsc = await startFakeSmsc();
  smsc.dial.hangUp = true;
  await connectSmsc(rig.service, smsc);
  await rig.service.passUntil(() => rig.told().length > 0, 600_000);
  expect(rig.told()).toEqual(["alarm.raised connector_down"]);
  expect(asked).toBe(1);
  freeMb = 900;
  resolve();
  await rig.service.passUntil(() => rig.told().includes("alarm.raised disk_low"), 30_000);
  await smsc.close();
});

const NO_ANSWER = /^the disk has not answered for 2 s$/;

test("the call about a data folder with letters beyond ASCII and dots in its path bears a signature that fits no other", async () => {
  named = "/srv/Grüße an 東京/v1.2/data";
  freeMb = 900;
  await rig.service.passUntil(() => rig.told().length > 0, 30_000);
  expect(rig.told()).toEqual(["alarm.raised disk_low"]);
  expect(await rig.alarms()).toMatchObject([{ name: "disk_low", subject: named }]);
  // Id, time and body are signed with a dot between them: an id with dots would sign other divisions of the text too.
  expect(rig.receiver.deliveries[0]?.headers["webhook-id"]).toMatch(/^alarm_disk_low_%2Fsrv[^.]+_raised$/);
});

test("the room is what the system says of the folder", async () => {
  const { dataFolder } = rig.service;
  const { blocks, bsize } = statfsSync(dataFolder);
  const { folder, free, size } = await diskOf(dataFolder);
  expect({ folder, size }).toEqual({ folder: dataFolder, size: blocks * bsize });
  expect(free).toBeGreaterThan(0);
  expect(free).toBeLessThanOrEqual(size);
});
