/** A session ends before the SMSC hears that we have a message, and it delivers it again; or after, and the handset writes the same again. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { inbound, ownNumber, write } from "../live-inbound.ts";
import { connectSmsc } from "../live-sms.ts";

onBothStores(() => {
  let postrider: HeldPostrider;
  let smsc: FakeSmsc;
  let connector: string;

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([startHeldPostrider(), startFakeSmsc()]);
    connector = await connectSmsc(postrider, smsc);
    await ownNumber(postrider, postrider.sandbox.account_id);
    await postrider.passUntil(() => smsc.bound().length > 0, 10_000);
  });

  afterEach(async () => {
    await smsc.close();
    await postrider.close();
  });

  const list = () => inbound(postrider, postrider.sandbox.api_key);

  async function reconnect() {
    smsc.dropAll();
    await smsc.until(() => smsc.connections() === 0);
    await postrider.passUntil(() => smsc.bound().length > 0, 60_000);
  }

  test("a message delivered again after a lost connection is one, the same words written again are another", async () => {
    void write(smsc, "yes");
    await postrider.passUntil(async () => (await list()).length === 1, 10_000);
    await reconnect();
    expect(await write(smsc, "yes")).toBe(0);
    expect(await list()).toHaveLength(1);
    expect(await write(smsc, "yes")).toBe(0);
    expect(await list()).toHaveLength(2);
  });

  test.each<[string, readonly Record<string, unknown>[]]>([
    ["its connector was reopened with other settings", [{ config: { system_type: "VMA" } }]],
    ["its connector was disabled for a while", [{ is_enabled: false }, { is_enabled: true }]],
  ])("the same words written again are another message also where %s in between", async (_, changes) => {
    await write(smsc, "yes");
    for (const change of changes) {
      const before = smsc.binds.length;
      await admin(postrider, `/connectors/${connector}`, change, "PATCH");
      const isOpen = () => smsc.binds.length > before && smsc.connections() === 1;
      await postrider.passUntil(
        () => (change.is_enabled === false ? smsc.connections() === 0 : isOpen()),
        20_000,
      );
    }
    expect(await write(smsc, "yes")).toBe(0);
    expect(await list()).toHaveLength(2);
  });

  test("a message delivered again is one also where its connector was reopened, and the same words had come before", async () => {
    await write(smsc, "yes");
    await postrider.pass(9 * 60_000);
    await write(smsc, "yes");
    smsc.dropAll();
    await smsc.until(() => smsc.connections() === 0);
    await admin(postrider, `/connectors/${connector}`, { config: { system_type: "VMA" } }, "PATCH");
    await postrider.passUntil(() => smsc.bound().length > 0, 60_000);
    await postrider.pass(2 * 60_000);
    expect(await write(smsc, "yes")).toBe(0);
    expect(await list()).toHaveLength(2);
  });

  test("a message delivered again is one also where the same words came a quarter of an hour before", async () => {
    await write(smsc, "yes");
    await postrider.pass(15 * 60_000);
    await write(smsc, "yes");
    expect(await list()).toHaveLength(2);
    await reconnect();
    expect(await write(smsc, "yes")).toBe(0);
    expect(await list()).toHaveLength(2);
  });
});
