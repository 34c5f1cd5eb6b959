/** A gateway's answer is lost, and its callback names the message by our own id: that proves that it was taken. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeGateway, startFakeGateway } from "../fakes/fake-gateway.ts";
import { type HeldPostrider, type MessageAt, startHeldPostrider } from "../held-postrider.ts";
import { type LiveSms, openLiveSms } from "../live-sms.ts";

onBothStores(() => {
  let postrider: HeldPostrider;
  let gateway: FakeGateway;

  beforeEach(async () => {
    [postrider, gateway] = await Promise.all([startHeldPostrider(), startFakeGateway("silent")]);
    await admin(postrider, "/settings/public_url", { value: postrider.url }, "PUT");
    await postrider.pass(1_100);
  });

  afterEach(async () => {
    await gateway.close();
    await postrider.close();
  });

  async function open(settings: Record<string, string> = {}): Promise<LiveSms> {
    const { connector_id } = await admin<{ connector_id: string }>(postrider, "/connectors", {
      kind: "http",
      config: { provider: "kannel", base_url: gateway.url, username: "acme", password: "secret" },
    });
    return openLiveSms(postrider, { connectors: [connector_id], settings });
  }

  async function callBack(status: string): Promise<void> {
    const url = gateway.requests[0]?.query["dlr-url"] ?? "";
    expect((await fetch(url.replace("%d", status).replace("%A", ""))).status).toBe(200);
  }

  const told = async (live: LiveSms, message: MessageAt) =>
    (await live.timeline(message)).map(({ kind, status }) => `${kind}:${status}`);

  test.each([["resend"], ["hold"]])(
    "%s: a message that it names after the answer was lost is delivered, and not sent again",
    async (policy) => {
      const live = await open({ on_unconfirmed: policy });
      gateway.behave("drop");
      const message = await live.send("+14155551301");
      await gateway.whenRequests(1);
      await postrider.passUntil(async () => (await told(live, message)).length === 1, 1_000);
      await callBack("1");
      expect(await postrider.status(message)).toBe("delivered");
      expect((await told(live, message)).slice(1)).toEqual(["status:sent", "receipt:delivered"]);
      await postrider.pass(120_000);
      expect(gateway.requests).toHaveLength(1);
      expect(await postrider.status(message)).toBe("delivered");
      expect(await told(live, message)).toHaveLength(3);
    },
  );

  test("a message that a callback names before the wait for the answer is over ends at once, and is not sent again", async () => {
    const live = await open();
    const message = await live.send("+14155551302");
    await gateway.whenRequests(1);
    await callBack("2");
    expect(await postrider.status(message)).toBe("undelivered");
    await postrider.pass(120_000);
    expect(gateway.requests).toHaveLength(1);
    expect(await postrider.status(message)).toBe("undelivered");
  });

  test("a failure of a message that the gateway has put off is not its end: it goes out again", async () => {
    const live = await open();
    gateway.behave({ status: 503, body: "later" });
    const message = await live.send("+14155551303");
    await gateway.whenRequests(1);
    await postrider.reached(message, "queued");
    await callBack("2");
    expect(await postrider.status(message)).toBe("queued");
    gateway.behave({ status: 202, body: "0: Accepted for delivery" });
    await gateway.whenRequests(1);
    await postrider.reached(message, "sent", "undelivered");
    expect(gateway.requests.length).toBeGreaterThan(1);
  });
});
