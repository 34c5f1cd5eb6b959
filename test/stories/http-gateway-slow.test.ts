/** The settings of a connector are changed while its gateway takes its time: nothing that it was given goes out a second time. */
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
    [postrider, gateway] = await Promise.all([startHeldPostrider(), startFakeGateway("silent")]);
  });

  afterEach(async () => {
    await gateway.close();
    await postrider.close();
  });

  test.each([
    ["is given a lower rate", { config: { max_per_second: 5 } }],
    ["is disabled", { is_enabled: false }],
  ])("a connector whose gateway answers after twenty seconds %s meanwhile", async (_, change) => {
    const { connector_id } = await admin<{ connector_id: string }>(postrider, "/connectors", {
      kind: "http",
      config: { provider: "kannel", base_url: gateway.url, username: "acme", password: "secret" },
    });
    const live = await openLiveSms(postrider, { connectors: [connector_id] });
    const message = await live.send("+14155551401");
    await gateway.whenRequests(1);
    await admin(postrider, `/connectors/${connector_id}`, change, "PATCH");
    await postrider.pass(20_000);
    gateway.release({ status: 202, body: "0: Accepted for delivery" });
    await postrider.reached(message, "sent");
    expect((await live.timeline(message)).map(({ kind, status }) => [kind, status])).toEqual([
      ["attempt", "sent"],
    ]);
    expect(gateway.requests).toHaveLength(1);
  });
});
