/** An SMSC takes messages and sends no receipts: somebody is told, once there are enough of them. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { type AlarmRig, startAlarmRig } from "../alarm-rig.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";

const OVERDUE_MS = 120_000;

onBothStores(() => {
  let rig: AlarmRig;
  let smsc: FakeSmsc;
  beforeEach(async () => {
    [rig, smsc] = await Promise.all([startAlarmRig(), startFakeSmsc({ receipts: "none" })]);
  });
  afterEach(async () => {
    await smsc.close();
    await rig.stop();
  });

  const setOverdue = () => set("receipt_overdue_after_minutes", String(OVERDUE_MS / 60_000));
  const set = (name: string, value: string) => admin(rig.service, `/settings/${name}`, { value }, "PUT");

  test("overdue receipts of a connector alarm at their limit, and until half of them have come", async () => {
    await setOverdue();
    await set("alarm_receipts_overdue", "3");
    const connector = await connectSmsc(rig.service, smsc);
    const live = await openLiveSms(rig.service, { connectors: [connector] });
    const send = async (to: string) => rig.service.reached(await live.send(to), "sent");
    for (const to of ["+14155550101", "+14155550102"]) await send(to);
    await rig.service.pass(180_000);
    expect(await rig.alarms()).toEqual([]);

    await send("+14155550103");
    await rig.service.pass(OVERDUE_MS);
    const names = async () => (await rig.alarms()).map(({ name }) => name);
    await rig.service.passUntil(async () => (await names()).includes("receipts_overdue"), 180_000);
    expect(await rig.alarms()).toMatchObject([
      { subject: connector, reason: "3 segments have no receipt in time" },
    ]);

    await smsc.sendReceipt(smsc.submits[0]!);
    await rig.service.pass(60_000);
    expect(await names()).toEqual(["receipts_overdue"]);
    await smsc.sendReceipt(smsc.submits[1]!);
    await rig.service.passUntil(async () => (await names()).length === 0, 60_000);
  }, 180_000);

  test("the alarm of a connector that is switched off is over, though its receipts never come", async () => {
    await setOverdue();
    await set("alarm_receipts_overdue", "1");
    const connector = await connectSmsc(rig.service, smsc);
    const live = await openLiveSms(rig.service, { connectors: [connector] });
    await rig.service.reached(await live.send("+14155550101"), "sent");
    await rig.service.pass(OVERDUE_MS);
    await rig.service.passUntil(async () => (await rig.alarms()).length > 0, 180_000);
    await admin(rig.service, `/connectors/${connector}`, { is_enabled: false }, "PATCH");
    await rig.service.passUntil(async () => (await rig.alarms()).length === 0, 60_000);
  }, 180_000);
});
