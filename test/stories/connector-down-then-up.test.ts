/** The SMSC is not there when messages are accepted. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { keptPort } from "../fakes/kept-port.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";
import { until } from "../until.ts";

onBothStores(() => {
  let postrider: HeldPostrider;
  let port: number;
  let connector: string;
  let live: LiveSms;
  let smsc: FakeSmsc | undefined;

  beforeEach(async () => {
    postrider = await startHeldPostrider();
    port = await keptPort();
    connector = await connectSmsc(postrider, { host: "127.0.0.1", port });
    live = await openLiveSms(postrider, { connectors: [connector] });
  });

  afterEach(async () => {
    await smsc?.close();
    smsc = undefined;
    await postrider.close();
  });

  const connectorState = async () =>
    (await admin<{ status?: { state: string } }>(postrider, `/connectors/${connector}`)).status?.state;

  test("a message accepted while its SMSC is down waits, and is delivered once when the SMSC is there", async () => {
    const message = await live.send("+14155550201");
    await postrider.pass(30_000);
    expect(await connectorState()).toBe("down");
    expect(await postrider.status(message)).toBe("queued");

    smsc = await startFakeSmsc({ receipts: "after" }, { port });
    expect(await postrider.reached({ ...message, withinMs: 90_000 }, "delivered", "failed", "expired")).toBe(
      "delivered",
    );
    expect(smsc.submits).toHaveLength(1);
    expect(await connectorState()).toBe("up");
  });

  test("a message whose window ends while its SMSC is down expires on time, and is not sent afterwards", async () => {
    const message = await live.send("+14155550202", { expire_after_seconds: 5 });
    await postrider.pass(4_900);
    expect(await postrider.status(message)).toBe("queued");
    const lateMs = await postrider.passUntil(
      async () => (await postrider.status(message)) === "expired",
      5_000,
    );
    expect(lateMs).toBeLessThanOrEqual(1_000);

    smsc = await startFakeSmsc({ receipts: "after" }, { port });
    const next = await live.send("+14155550203");
    await postrider.reached({ ...next, withinMs: 90_000 }, "delivered");
    expect(smsc.submits.map(({ destination }) => destination.address)).toEqual(["14155550203"]);
    expect(await postrider.status(message)).toBe("expired");
    expect(await live.timeline(message)).toMatchObject([
      { kind: "status", status: "expired", error: { code: "expired" } },
    ]);
  });

  test("what is left of the window goes to the SMSC as validity_period", async () => {
    const message = await live.send("+14155550204", { expire_after_seconds: 3_600 });
    await postrider.pass(100_000);
    smsc = await startFakeSmsc({ receipts: "after" }, { port });
    const startedAt = postrider.now();
    await postrider.reached({ ...message, withinMs: 90_000 }, "delivered");
    const period = String(smsc.submits[0]?.validityPeriod);
    expect(period).toMatch(/^000000\d{6}000R$/);
    const [, hours, minutes, seconds] = /^000000(\d\d)(\d\d)(\d\d)000R$/.exec(period)!.map(Number);
    const leftSeconds = (hours! * 60 + minutes!) * 60 + seconds!;
    const waitedSeconds = (postrider.now() - startedAt) / 1_000;
    expect(leftSeconds).toBeLessThanOrEqual(3_500);
    expect(leftSeconds).toBeGreaterThanOrEqual(3_500 - waitedSeconds - 1);
  });

  test("a session that ends is opened again, and what had not been sent goes over the new one", async () => {
    smsc = await startFakeSmsc({ receipts: "after" }, { port });
    await postrider.passUntil(async () => (await connectorState()) === "up", 90_000);
    smsc.dropAll();
    await smsc.until(() => smsc?.connections() === 0);
    await until(connectorState, (state) => state !== "up");
    const message = await live.send("+14155550205");
    expect(await postrider.reached(message, "delivered", "failed")).toBe("delivered");
    expect(smsc.binds).toHaveLength(2);
    expect(smsc.submits).toHaveLength(1);
  });
});
