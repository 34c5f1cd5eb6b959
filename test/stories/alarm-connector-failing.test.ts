/** An SMSC is there, and takes little of what it is given: somebody is told, once, and once more when it takes messages again. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { type AlarmRig, startAlarmRig } from "../alarm-rig.ts";
import { onBothStores } from "../both-stores.ts";
import { startFakeGateway } from "../fakes/fake-gateway.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";

/** A status of a vendor's own: no credit, say. */
const NO_CREDIT = 0x400;
const QUEUE_FULL = 0x14;
const THROTTLED = 0x58;

const RAISED = "alarm.raised connector_failing";
const CLEARED = "alarm.cleared connector_failing";

onBothStores((store) => {
  let rig: AlarmRig;
  let smsc: FakeSmsc;
  let connector: string;
  let live: LiveSms;
  let sent = 0;

  beforeEach(async () => {
    [rig, smsc] = await Promise.all([startAlarmRig(), startFakeSmsc({ receipts: "after" })]);
    connector = await connectSmsc(rig.service, smsc);
    live = await openLiveSms(rig.service, { connectors: [connector] });
    await rig.service.passUntil(() => smsc.bound().length > 0, 10_000);
  });

  afterEach(async () => {
    await smsc.close();
    await rig.stop();
  });

  const toldOf = () => rig.told().filter((each) => each.endsWith("connector_failing"));

  const send = () => live.send(`+1415${5_550_000 + sent++}`);

  /** Six messages in each minute. */
  async function giveFor(minutes: number): Promise<void> {
    for (let minute = 0; minute < minutes; minute++) {
      for (let count = 0; count < 6; count++) await send();
      await rig.service.pass(60_000);
    }
  }

  test("an SMSC that refuses most of what it is given for five minutes alarms, in every way, until it takes messages again", async () => {
    smsc.dial.submitStatus = NO_CREDIT;
    await giveFor(4);
    expect(rig.told()).toEqual([]);
    await giveFor(3);
    expect(rig.told()).toEqual([RAISED]);
    const { name } = await admin<{ name: string }>(rig.service, `/connectors/${connector}`);
    const named = { name: "connector_failing", subject: connector, subject_name: name };
    const [alarm, ...others] = await rig.alarms();
    expect([alarm, others]).toMatchObject([named, []]);
    expect(alarm?.reason).toMatch(
      /^\d+ attempts in \d minutes: 0 sent, \d+ rejected; the last error: an error of this vendor \(0x00000400\) \(smpp\.0x00000400\)$/,
    );
    const { data } = JSON.parse(rig.receiver.deliveries[0]?.body ?? "") as {
      data: { since: string; raised_at: string };
    };
    expect(Date.parse(data.raised_at) - Date.parse(data.since)).toBeGreaterThanOrEqual(300_000);
    expect(await rig.metric()).toEqual([
      `postrider_alarm{name="connector_failing",subject="${connector}",subject_name="${name}"} 1`,
    ]);

    smsc.dial.submitStatus = 0;
    await giveFor(4);
    expect(rig.told()).toEqual([RAISED, CLEARED]);
    expect(await rig.alarms()).toEqual([]);
  }, 180_000);

  // What counts as a failure is judged in memory, before the store: SQLite alone shows it.
  if (store === "postgres") return;

  test.each([
    ["whose queue is full", QUEUE_FULL],
    ["that throttles all", THROTTLED],
  ])(
    "an SMSC %s alarms by a few messages that it is given again and again",
    async (_, status) => {
      smsc.dial.submitStatus = status;
      for (let count = 0; count < 25; count++) await send();
      await rig.service.passUntil(() => toldOf().length > 0, 900_000);
      smsc.dial.submitStatus = 0;
      await giveFor(4);
      expect(toldOf()).toEqual([RAISED, CLEARED]);
    },
    180_000,
  );

  test("an HTTP provider that throttles all alarms by its own answers, and not by what was left to others or waited meanwhile", async () => {
    const gateway = await startFakeGateway({ status: 429 });
    try {
      const { connector_id } = await admin<{ connector_id: string }>(rig.service, "/connectors", {
        kind: "http",
        name: "gateway",
        config: {
          provider: "custom",
          gateway: {
            send: { method: "POST", url: `${gateway.url}/send`, json: { to: "{to}" } },
            answer: { id: { json: "/id" } },
          },
        },
      });
      const sms = await openLiveSms(rig.service, { connectors: [connector_id], sharesRoute: false });
      for (let count = 0; count < 25; count++) await sms.send(`+1415${5_550_000 + sent++}`);
      await rig.service.passUntil(() => toldOf().length > 0, 900_000);
      const [alarm] = await rig.alarms();
      expect(alarm).toMatchObject({ name: "connector_failing", subject: connector_id });
      expect(alarm?.reason).toContain("; the last error: HTTP 429 (http.429)");
      expect(Number(/^\d+/.exec(alarm?.reason ?? "")?.[0])).toBeLessThanOrEqual(gateway.requests.length);
    } finally {
      await gateway.close();
    }
  }, 180_000);

  test("a few bad recipients, or recipients whose own queue is full, alarm nobody, nor does an SMSC that is away, beyond its own alarm", async () => {
    smsc.dial.submitStatus = 0x0b;
    for (let count = 0; count < 30; count++) await send();
    await rig.service.pass(60_000);
    const full = new Set<string>();
    smsc.dial.submitStatus = ({ destination }) => (full.has(destination.address) ? QUEUE_FULL : 0);
    for (let count = 0; count < 25; count++) {
      full.add(`1415${5_550_000 + sent}`);
      await send();
      await rig.service.pass(1_000);
      await send();
      await rig.service.pass(1_000);
    }
    await rig.service.pass(900_000);
    expect(rig.told()).toEqual([]);

    smsc.dial.hangUp = true;
    smsc.dropAll();
    await giveFor(8);
    expect(rig.told()).toContain("alarm.raised connector_down");
    expect(toldOf()).toEqual([]);
  }, 180_000);
});
