/** An SMSC goes away and comes back: somebody is told, once each. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { type AlarmRig, startAlarmRig } from "../alarm-rig.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { BEHAVIOURS } from "../fakes/fake-webhook-receiver.ts";
import { connectSmsc } from "../live-sms.ts";

onBothStores(() => {
  let rig: AlarmRig;
  let smsc: FakeSmsc;
  let connector: string;

  beforeEach(async () => {
    [rig, smsc] = await Promise.all([startAlarmRig(), startFakeSmsc()]);
    connector = await connectSmsc(rig.service, smsc);
    await rig.service.passUntil(() => smsc.bound().length > 0, 10_000);
  });

  afterEach(async () => {
    await smsc.close();
    await rig.stop();
  });

  test("a connector that is down for a minute is told of, in every way, and so is its return", async () => {
    smsc.dial.hangUp = true;
    smsc.dropAll();
    await rig.service.pass(50_000);
    expect(await rig.alarms()).toEqual([]);
    await rig.service.passUntil(() => rig.told().length > 0, 30_000);
    expect(rig.told()).toEqual(["alarm.raised connector_down"]);
    const { name } = await admin<{ name: string }>(rig.service, `/connectors/${connector}`);
    const named = { name: "connector_down", subject: connector, subject_name: name };
    expect(await rig.alarms()).toMatchObject([named]);
    expect(JSON.parse(rig.receiver.deliveries[0]?.body ?? "")).toMatchObject({ data: { ...named } });
    expect(rig.service.logged.find(({ alarm }) => alarm)).toMatchObject({ subject_name: name });
    const labels = `name="connector_down",subject="${connector}",subject_name="${name}"`;
    expect(await rig.metric()).toEqual([`postrider_alarm{${labels}} 1`]);
    expect(rig.service.logged.some(({ alarm_name, alarm }) => alarm_name === "connector_down" && alarm)).toBe(
      true,
    );

    smsc.dial.hangUp = false;
    await rig.service.passUntil(() => rig.told().length > 1, 180_000);
    expect(rig.told()).toEqual(["alarm.raised connector_down", "alarm.cleared connector_down"]);
    expect(await rig.alarms()).toEqual([]);
    expect(await rig.metric()).toEqual([]);
  });

  test("a connector that is back within the minute alarms nobody", async () => {
    smsc.dropAll();
    await rig.service.pass(120_000);
    expect(rig.told()).toEqual([]);
  });

  test("an operator's webhook that fails is called again, under the same id", async () => {
    rig.receiver.behave((_, index) => (index === 0 ? BEHAVIOURS.error : BEHAVIOURS.ok));
    smsc.dial.hangUp = true;
    smsc.dropAll();
    await rig.service.passUntil(() => rig.told().length > 1, 120_000);
    const ids = rig.receiver.deliveries.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).toBe(1);
  });

  test("an operator's webhook without a secret is called by nobody, which the log says", async () => {
    await admin(rig.service, "/settings/alarm_webhook_secret", { value: null }, "PUT");
    smsc.dial.hangUp = true;
    smsc.dropAll();
    const told = () => rig.service.logged.find(({ msg }) => String(msg).includes("alarm_webhook_secret"));
    await rig.service.passUntil(() => told() !== undefined, 120_000);
    expect(told()).toMatchObject({ alarm_name: "connector_down", subject: connector });
    expect(rig.told()).toEqual([]);
  });
});
