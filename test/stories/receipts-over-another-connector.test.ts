/** A provider sends receipts over another connector of the same account than the message went out by. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { startFakeGateway } from "../fakes/fake-gateway.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { type LiveSms, openLiveSms } from "../live-sms.ts";

const TO = "+14155551601";

onBothStores(() => {
  let postrider: HeldPostrider;
  let smsc: FakeSmsc;
  let sender: string;
  let live: LiveSms;

  async function connect(name: string, config: Record<string, unknown> = {}): Promise<string> {
    const { connector_id } = await admin<{ connector_id: string }>(postrider, "/connectors", {
      kind: "smpp",
      name,
      config: { host: smsc.host, port: smsc.port, system_id: "acme", password: "secret", ...config },
    });
    return connector_id;
  }

  /** The second connector, which the SMSC sends its receipts to from now on: it bound last. */
  async function connectOther(config: Record<string, unknown> = {}): Promise<string> {
    const id = await connect("other", config);
    await smsc.until(() => smsc.bound().length === 2);
    return id;
  }

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([
      startHeldPostrider(),
      startFakeSmsc({ receipts: "none", receiptForm: "text" }),
    ]);
    sender = await connect("sender");
    live = await openLiveSms(postrider, { connectors: [sender] });
    await smsc.until(() => smsc.bound().length === 1);
  });

  afterEach(async () => {
    await smsc.close();
    await postrider.close();
  });

  async function sent(to = TO) {
    const message = await live.send(to);
    await postrider.reached(message, "sent");
    return { message, submit: smsc.submits.at(-1)! };
  }

  const parked = async () => (await admin<{ data: unknown[] }>(postrider, "/receipts/parked")).data.length;

  test("of two with the same host and system_id either brings the receipts of both", async () => {
    await connectOther();
    const { message, submit } = await sent();
    expect(await smsc.sendReceipt(submit)).toBe(0);
    expect(await smsc.sendReceipt(submit)).toBe(0);
    expect(await postrider.reached(message, "delivered")).toBe("delivered");
    expect((await live.timeline(message)).map(({ kind }) => kind)).toEqual([
      "attempt",
      "receipt",
      "late_receipt",
    ]);
    expect((await live.timeline(message))[1]?.detail).toMatchObject({
      connector: sender,
      matched_by: "another_connector",
    });
    expect(await parked()).toBe(0);
    smsc.dial.receipts = "early";
    expect(await postrider.reached(await live.send(TO), "delivered")).toBe("delivered");
    expect(await parked()).toBe(0);
  });

  test("nothing is matched by chance: where the number differs or is missing, or the account is another, it stays parked", async () => {
    await connectOther();
    const { message, submit } = await sent();
    for (const address of ["14155559999", ""]) {
      await smsc.sendReceipt({ ...submit, destination: { ...submit.destination, address } });
    }
    await postrider.pass(5_000);
    expect([await postrider.status(message), await parked()]).toEqual(["sent", 2]);
    await smsc.sendReceipt(submit);
    expect(await postrider.reached(message, "delivered")).toBe("delivered");
    expect(await parked()).toBe(2);
  });

  test("a connector that replaces another is told so, and what is parked finds its message", async () => {
    const { message, submit } = await sent();
    await admin(postrider, `/connectors/${sender}`, { is_enabled: false }, "PATCH");
    await postrider.passUntil(() => smsc.bound().length === 0, 10_000);
    const other = await connect("other", { system_id: "acme-2" });
    await smsc.until(() => smsc.bound().length === 1);
    await smsc.sendReceipt(submit, "UNDELIV");
    await postrider.pass(300_000);
    expect([await postrider.status(message), await parked()]).toEqual(["sent", 1]);
    await admin(postrider, `/connectors/${other}`, { config: { receipts_with: [sender] } }, "PATCH");
    expect(await postrider.reached(message, "undelivered")).toBe("undelivered");
    expect(await parked()).toBe(0);
  });

  test("once all that was parked has found its message, what comes next does as well", async () => {
    const messages = [await sent(), await sent(), await sent()];
    await admin(postrider, `/connectors/${sender}`, { is_enabled: false }, "PATCH");
    await postrider.passUntil(() => smsc.bound().length === 0, 10_000);
    const other = await connect("other", { system_id: "acme-2" });
    await smsc.until(() => smsc.bound().length === 1);
    for (const { submit } of messages.slice(0, 2)) await smsc.sendReceipt(submit);
    await postrider.pass(300_000);
    expect(await parked()).toBe(2);
    await admin(postrider, `/connectors/${other}`, { config: { receipts_with: [sender] } }, "PATCH");
    await postrider.passUntil(async () => (await parked()) === 0, 10_000);
    await smsc.sendReceipt(messages[2]!.submit);
    await postrider.pass(5_000);
    for (const { message } of messages) expect(await postrider.status(message)).toBe("delivered");
  });

  test("of two gateways that know one callback URL for all of an account either brings the receipts of both", async () => {
    const gateway = await startFakeGateway({ status: 200, body: "success | 1 | 3562-77" });
    const config = { provider: "gupshup", base_url: gateway.url, userid: "2000", password: "p" };
    const first = await admin<{ connector_id: string }>(postrider, "/connectors", {
      kind: "http",
      name: "one",
      config,
    });
    const { callback_path } = await admin<{ callback_path: string }>(postrider, "/connectors", {
      kind: "http",
      name: "two",
      config: { ...config, receipts_with: [first.connector_id] },
    });
    const account = await openLiveSms(postrider, { connectors: [first.connector_id] });
    const message = await account.send(TO);
    await postrider.reached(message, "sent");
    const report = { externalId: "3562-77", status: "SUCCESS", cause: "SUCCESS", phoneNo: TO.slice(1) };
    const answer = await fetch(`${postrider.url}${callback_path}?${new URLSearchParams(report)}`);
    expect(answer.status).toBe(200);
    expect(await postrider.reached(message, "delivered")).toBe("delivered");
    await gateway.close();
  });
});
