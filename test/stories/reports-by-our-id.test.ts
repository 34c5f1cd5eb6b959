/** Gateways that report with our id: what they say of a message counts, also where another provider has sent it since. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeGateway, startFakeGateway } from "../fakes/fake-gateway.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, type MessageAt, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";

const TO = "+14155551801";

onBothStores(() => {
  let postrider: HeldPostrider;
  let first: FakeGateway;
  let second: FakeGateway;
  let connectors: readonly Connector[];
  let live: LiveSms;
  let route: string;

  interface Connector {
    readonly connector_id: string;
    readonly callback_path: string;
  }

  beforeEach(async () => {
    [postrider, first, second] = await Promise.all([
      startHeldPostrider(),
      startFakeGateway(),
      startFakeGateway(),
    ]);
    await admin(postrider, "/settings/public_url", { value: postrider.url }, "PUT");
    connectors = [await connect("first", first), await connect("second", second)];
    live = await openLiveSms(postrider, { connectors: connectors.map((each) => each.connector_id) });
    const { data } = await admin<{ data: { route_id: string }[] }>(postrider, "/routes");
    route = `/routes/${data[0]?.route_id}`;
    await admin(postrider, route, { failover: "always" }, "PATCH");
  });

  afterEach(async () => {
    await Promise.all([first.close(), second.close()]);
    await postrider.close();
  });

  const connect = (name: string, { url }: FakeGateway) =>
    admin<Connector>(postrider, "/connectors", {
      kind: "http",
      name,
      config: {
        provider: "custom",
        gateway: {
          send: { url, query: { id: "{{message_id}}", to: "{{to}}", text: "{{text}}" } },
          answer: { own_id: true },
          callback: {
            id: { json: "/id" },
            status: [{ json: "/state" }],
            statuses: { DONE: "delivered", LOST: "undelivered" },
          },
        },
      },
    });

  async function report(place: number, { path }: MessageAt, state: string): Promise<void> {
    const query = new URLSearchParams({ id: path.split("/").at(-1) ?? "", state });
    const answer = await fetch(`${postrider.url}${connectors[place]?.callback_path}?${query}`);
    expect(answer.status).toBe(200);
  }

  /** The first gateway answers like this, and the second takes the message. */
  async function sentBySecond(behaviour: Parameters<FakeGateway["behave"]>[0]): Promise<MessageAt> {
    first.behave(behaviour);
    const message = await live.send(TO);
    await first.whenRequests(1);
    const connector_ids = connectors.map(({ connector_id }) => connector_id).reverse();
    await admin(postrider, route, { connector_ids }, "PATCH");
    expect(await postrider.reached(message, "sent")).toBe("sent");
    expect([first.requests.length, second.requests.length]).toEqual([1, 1]);
    return message;
  }

  const lastEntries = async (message: MessageAt, count: number) =>
    (await live.timeline(message)).slice(-count).map(({ kind, status }) => `${kind}:${status}`);

  for (const [title, behaviour] of [
    ["put off", { status: 503 }],
    ["never answered for", "drop"],
  ] as const) {
    test(`what the first gateway has ${title} and delivers all the same is delivered, though the second never reports`, async () => {
      const message = await sentBySecond(behaviour);
      await report(0, message, "DONE");
      expect(await postrider.status(message)).toBe("delivered");
      await report(0, message, "DONE");
      await report(1, message, "LOST");
      expect(await postrider.status(message)).toBe("delivered");
      expect(await lastEntries(message, 3)).toEqual([
        "receipt:delivered",
        "late_receipt:delivered",
        "late_receipt:delivered",
      ]);
      const metrics = await (await fetch(`${postrider.url}/metrics`)).text();
      expect(metrics).toContain("postrider_receipts_parked 0");
    });

    test(`what it has ${title} and does not deliver is as the second one tells`, async () => {
      const message = await sentBySecond(behaviour);
      await report(0, message, "LOST");
      expect(await postrider.status(message)).toBe("sent");
      await report(1, message, "DONE");
      expect(await postrider.status(message)).toBe("delivered");
    });
  }

  test("a gateway that was never given the message tells nothing of it", async () => {
    const message = await live.send(TO);
    await postrider.reached(message, "sent");
    for (const state of ["LOST", "DONE"]) await report(1, message, state);
    expect(await postrider.status(message)).toBe("sent");
    await report(0, message, "DONE");
    expect(await postrider.status(message)).toBe("delivered");
  });

  test("a long message that an SMSC put off, and whose answer a gateway lost, is delivered when the gateway says so", async () => {
    const smsc = await startFakeSmsc({ submitStatus: 0x64 });
    const put = await connectSmsc(postrider, smsc);
    const long = await openLiveSms(postrider, {
      connectors: [put, connectors[0]?.connector_id ?? ""],
      body: "Your table is ready. ".repeat(17),
      settings: { on_unconfirmed: "hold" },
    });
    await smsc.until(() => smsc.bound().length === 1);
    first.behave("drop");
    const message = await long.send(TO);
    await postrider.passUntil(async () => {
      const latest = (await long.timeline(message)).at(-1);
      return latest?.error?.code === "http.no_answer";
    }, 60_000);
    expect(await postrider.status(message)).toBe("sending");
    await report(0, message, "DONE");
    expect(await postrider.status(message)).toBe("delivered");
    expect(first.requests).toHaveLength(1);
    await smsc.close();
  });
});
