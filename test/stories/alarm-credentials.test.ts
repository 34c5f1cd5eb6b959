/** A provider does not know us any more: nobody but the operator can mend that. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { type AlarmRig, startAlarmRig } from "../alarm-rig.ts";
import { onBothStores } from "../both-stores.ts";
import { startFakeGateway } from "../fakes/fake-gateway.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";

onBothStores(() => {
  const ESME_RINVPASWD = 0x0e;

  let rig: AlarmRig;
  beforeEach(async () => {
    rig = await startAlarmRig();
  });
  afterEach(() => rig.stop());

  /** What the API's description says that a connector's alarm may be. */
  async function describedAlarms(): Promise<string> {
    const described = await (await fetch(`${rig.service.url}/openapi.json`)).text();
    return /"alarm":\{"type":"string","enum":(\[[^\]]*\])/.exec(described)?.[1] ?? "none";
  }

  test("a bind that is refused for its password alarms at once, and its success clears it", async () => {
    const smsc = await startFakeSmsc({ bindStatus: ESME_RINVPASWD });
    const connector = await connectSmsc(rig.service, smsc);
    await rig.service.passUntil(() => rig.told().length > 0, 20_000);
    expect(await rig.alarms()).toMatchObject([{ name: "connector_bind_refused", subject: connector }]);
    delete smsc.dial.bindStatus;
    await admin(rig.service, `/connectors/${connector}`, { config: { password: "right" } }, "PATCH");
    await rig.service.passUntil(() => rig.told().includes("alarm.cleared connector_bind_refused"), 600_000);
    await smsc.close();
  });

  test("an HTTP provider that refuses our credentials alarms, and taking a message clears it", async () => {
    const gateway = await startFakeGateway({ status: 401, body: { message: "who are you?" } });
    const { connector_id } = await admin<{ connector_id: string }>(rig.service, "/connectors", {
      kind: "http",
      name: "gateway",
      config: { provider: "vonage", base_url: gateway.url, api_key: "k", api_secret: "s" },
    });
    const live = await openLiveSms(rig.service, { connectors: [connector_id] });
    const message = await live.send("+14155550123");
    await rig.service.passUntil(() => rig.told().length > 0, 60_000);
    expect(rig.told()[0]).toBe("alarm.raised connector_credentials_refused");
    const { status } = await admin<{ status: { alarm: string } }>(rig.service, `/connectors/${connector_id}`);
    expect(await describedAlarms()).toContain(`"${status.alarm}"`);
    gateway.behave({ status: 200, body: { messages: [{ status: "0", "message-id": "m-1" }] } });
    expect(await rig.service.reached({ ...message, withinMs: 600_000 }, "sent")).toBe("sent");
    const cleared = "alarm.cleared connector_credentials_refused";
    await rig.service.passUntil(() => rig.told().includes(cleared), 120_000);
    await gateway.close();
  });
});
