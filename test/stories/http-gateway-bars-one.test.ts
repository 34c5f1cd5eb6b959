/** A gateway refuses some messages as if it refused the connector: the others do not wait for the end of these. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeGateway, startFakeGateway } from "../fakes/fake-gateway.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { openLiveSms } from "../live-sms.ts";

onBothStores(() => {
  const BARRED = "+14155551700";
  const ALL_BARRED = [BARRED, "+14155551710", "+14155551711"];

  let postrider: HeldPostrider;
  let gateway: FakeGateway;
  /** What the gateway answers to those that it bars. */
  let status: number;

  beforeEach(async () => {
    status = 403;
    [postrider, gateway] = await Promise.all([
      startHeldPostrider(),
      startFakeGateway(({ json }) =>
        ALL_BARRED.includes(json.to) ? { status } : { status: 200, body: { id: json.to } },
      ),
    ]);
  });

  afterEach(async () => {
    await gateway.close();
    await postrider.close();
  });

  async function open() {
    const { connector_id } = await admin<{ connector_id: string }>(postrider, "/connectors", {
      kind: "http",
      config: {
        provider: "custom",
        gateway: {
          send: { url: gateway.url, json: { to: "{{to}}", text: "{{text}}" } },
          answer: { id: { json: "/id" } },
        },
      },
    });
    return openLiveSms(postrider, { connectors: [connector_id] });
  }

  test("the messages behind one that is answered 403 go out", async () => {
    const live = await open();
    const barred = await live.send(BARRED);
    await gateway.whenRequests(1);
    // By now the connector rests for longer than the message waits for its next try.
    await postrider.pass(20_000);
    const others = [await live.send("+14155551701"), await live.send("+14155551702")];
    for (const message of others) expect(await postrider.reached(message, "sent", "failed")).toBe("sent");
    // It may have been the connector's fault: nothing is lost.
    expect(await postrider.status(barred)).toBe("queued");
    const tries = gateway.requests.filter(({ json }) => json.to === BARRED).length;
    gateway.behave({ status: 200, body: { id: "late" } });
    expect(await postrider.reached(barred, "sent", "failed")).toBe("sent");
    expect(gateway.requests.filter(({ json }) => json.to === BARRED)).toHaveLength(tries + 1);
  });

  test.each([403, 429])(
    "a few that are answered %i, and were alone for minutes, have not every turn from then on",
    async (given) => {
      status = given;
      const live = await open();
      for (const to of ALL_BARRED) await live.send(to);
      await postrider.pass(5 * 60_000);
      const other = await live.send("+14155551701");
      expect(await postrider.reached({ ...other, withinMs: 90_000 }, "sent", "failed")).toBe("sent");
    },
  );
});
