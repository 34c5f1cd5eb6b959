/** A gateway splits a long message, and its answer names an id for each part: each callback settles its own. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeGateway, startFakeGateway } from "../fakes/fake-gateway.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { type LiveSms, openLiveSms } from "../live-sms.ts";

const TO = "+14155551501";

onBothStores(() => {
  let postrider: HeldPostrider;
  let gateway: FakeGateway;
  let live: LiveSms;
  let callbackPath: string;

  beforeEach(async () => {
    [postrider, gateway] = await Promise.all([startHeldPostrider(), startFakeGateway()]);
    await admin(postrider, "/settings/public_url", { value: postrider.url }, "PUT");
    const { connector_id, callback_path } = await admin<{ connector_id: string; callback_path: string }>(
      postrider,
      "/connectors",
      {
        kind: "http",
        config: { provider: "vonage", base_url: gateway.url, api_key: "k", api_secret: "s" },
      },
    );
    callbackPath = callback_path;
    live = await openLiveSms(postrider, { connectors: [connector_id] });
  });

  afterEach(async () => {
    await gateway.close();
    await postrider.close();
  });

  const taken = (...ids: readonly string[]) => ({
    status: 200,
    body: { "message-count": ids.length, messages: ids.map((id) => ({ status: "0", "message-id": id })) },
  });

  async function report(messageId: string, status: string): Promise<void> {
    const body = JSON.stringify({ messageId, status, msisdn: TO.slice(1), to: "ACMECO" });
    const headers = { "Content-Type": "application/json" };
    expect((await fetch(postrider.url + callbackPath, { method: "POST", headers, body })).status).toBe(200);
  }

  test("a message that a gateway has split is delivered once all of its parts are", async () => {
    gateway.behave(taken("0A01", "0A02", "0A03"));
    const message = await live.send(TO);
    await postrider.reached(message, "sent");
    for (const id of ["0A03", "0A01"]) await report(id, "delivered");
    expect(await postrider.status(message)).toBe("sent");
    await report("0A02", "delivered");
    expect(await postrider.status(message)).toBe("delivered");
  });

  test("one part that is not delivered decides, whatever the others are, also after a first try that was put off", async () => {
    gateway.behave({ status: 503 });
    const message = await live.send(TO);
    await postrider.passUntil(async () => (await live.timeline(message)).length > 0, 60_000);
    gateway.behave(taken("0B01", "0B02"));
    await postrider.reached(message, "sent");
    await report("0B01", "failed");
    expect(await postrider.status(message)).toBe("sent");
    await report("0B02", "delivered");
    expect(await postrider.status(message)).toBe("undelivered");
  });

  test("an id that stands there more than once is that of the whole message; blanks and quotes are no part of it", async () => {
    gateway.behave(taken(' "0C01"', "0C01"));
    const message = await live.send(TO);
    await postrider.reached(message, "sent");
    await report("0c01 ", "delivered");
    expect(await postrider.status(message)).toBe("delivered");
  });
});
