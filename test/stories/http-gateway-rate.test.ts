/** A gateway that takes so many segments a second is given no more, however long the messages are. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeGateway, startFakeGateway } from "../fakes/fake-gateway.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { openLiveSms } from "../live-sms.ts";

onBothStores(() => {
  let postrider: HeldPostrider;
  let gateway: FakeGateway;

  beforeEach(async () => {
    [postrider, gateway] = await Promise.all([
      startHeldPostrider(),
      startFakeGateway({ status: 202, body: "0: Accepted for delivery" }),
    ]);
  });

  afterEach(async () => {
    await gateway.close();
    await postrider.close();
  });

  async function timeFor(count: number, body: string): Promise<number> {
    const { connector_id } = await admin<{ connector_id: string }>(postrider, "/connectors", {
      kind: "http",
      name: "kannel",
      config: { provider: "kannel", base_url: gateway.url, username: "u", password: "p", max_per_second: 3 },
    });
    const live = await openLiveSms(postrider, { connectors: [connector_id], body });
    for (let sent = 0; sent < count; sent++) await live.send(`+1415555070${sent}`);
    return postrider.passUntil(() => gateway.requests.length === count, 60_000);
  }

  test("short messages go at the rate", async () => {
    expect(await timeFor(9, "Hi")).toBeLessThan(5_000);
  });

  test("a message of three segments counts for three", async () => {
    expect(await timeFor(9, "Your table is ready. ".repeat(17))).toBeGreaterThan(7_000);
  });
});
