/** Messages wait and nothing takes them: somebody is told that the queue is too old. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { type AlarmRig, startAlarmRig } from "../alarm-rig.ts";
import { onBothStores } from "../both-stores.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";

onBothStores(() => {
  let rig: AlarmRig;
  beforeEach(async () => {
    rig = await startAlarmRig();
  });
  afterEach(() => rig.stop());

  test("a queue whose oldest job has been due for five minutes alarms, until it has been worked off", async () => {
    const smsc = await startFakeSmsc({ hangUp: true });
    const connector = await connectSmsc(rig.service, smsc);
    const live = await openLiveSms(rig.service, { connectors: [connector] });
    const { name } = await admin<{ name: string }>(rig.service, `/connectors/${connector}`);
    const message = await live.send("+14155550123");
    await rig.service.pass(290_000);
    expect(rig.told()).not.toContain("alarm.raised queue_too_old");
    await rig.service.passUntil(() => rig.told().includes("alarm.raised queue_too_old"), 30_000);
    const old = (await rig.alarms()).find((alarm) => alarm.name === "queue_too_old");
    // The id of a route says nothing to whoever is woken; which connector it waits for, and why, does.
    expect(old?.reason).toContain(`; ${name} is down, the SMSC closed the connection`);
    smsc.dial.hangUp = false;
    await rig.service.reached({ ...message, withinMs: 300_000 }, "sent", "delivered");
    await rig.service.passUntil(() => rig.told().includes("alarm.cleared queue_too_old"), 120_000);
    await smsc.close();
  });
});
