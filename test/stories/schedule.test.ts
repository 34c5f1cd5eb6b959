/** What shall happen later happens then: not before, and not never. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";

onBothStores(() => {
  const DAY_MS = 24 * 3_600_000;

  let postrider: HeldPostrider;
  let smsc: FakeSmsc;
  let live: LiveSms;

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([startHeldPostrider(), startFakeSmsc({ receipts: "after" })]);
    const connector = await connectSmsc(postrider, smsc);
    live = await openLiveSms(postrider, { connectors: [connector] });
  });

  afterEach(async () => {
    await smsc.close();
    await postrider.close();
  });

  const inMs = (ms: number) => new Date(postrider.now() + ms).toISOString();

  test("a message scheduled for six days ahead is scheduled until then, sent then, and delivered", async () => {
    const message = await live.send("+14155551001", { schedule_at: inMs(6 * DAY_MS) });
    expect(await postrider.status(message)).toBe("scheduled");
    postrider.leap(6 * DAY_MS - 5_000);
    await postrider.pass(4_900);
    expect(await postrider.status(message)).toBe("scheduled");
    expect(smsc.submits).toHaveLength(0);

    const lateMs = await postrider.passUntil(() => smsc.submits.length === 1, 5_000);
    expect(lateMs).toBeLessThanOrEqual(1_000);
    expect(await postrider.reached(message, "delivered", "failed", "expired")).toBe("delivered");
  });

  test("when its time has come a message is queued while no connector is up, and its window begins only then", async () => {
    smsc.dial.hangUp = true;
    smsc.dropAll();
    const message = await live.send("+14155551002", {
      schedule_at: inMs(2 * DAY_MS),
      expire_after_seconds: 60,
    });
    postrider.leap(2 * DAY_MS - 1_000);
    await postrider.pass(900);
    expect(await postrider.status(message)).toBe("scheduled");
    await postrider.reached({ ...message, withinMs: 1_000 }, "queued");
    await postrider.pass(57_000);
    expect(await postrider.status(message)).toBe("queued");
    await postrider.reached({ ...message, withinMs: 4_000 }, "expired");
    expect(smsc.submits).toHaveLength(0);
  });

  test("messages scheduled for other times go in the order of their times, not of their acceptance", async () => {
    const late = await live.send("+14155551003", { schedule_at: inMs(20_000) });
    const early = await live.send("+14155551004", { schedule_at: inMs(10_000) });
    const at = { withinMs: 60_000 };
    await postrider.reached({ ...late, ...at }, "delivered");
    await postrider.reached({ ...early, ...at }, "delivered");
    expect(smsc.submits.map(({ destination }) => destination.address)).toEqual([
      "14155551004",
      "14155551003",
    ]);
  });

  test("a machine that slept past the time sends what is still within its window, and expires the rest", async () => {
    const good = await live.send("+14155551005", { schedule_at: inMs(DAY_MS), expire_after_seconds: 7_200 });
    const over = await live.send("+14155551006", { schedule_at: inMs(DAY_MS), expire_after_seconds: 60 });
    postrider.leap(DAY_MS + 3_600_000);
    expect(await postrider.reached(good, "delivered", "expired")).toBe("delivered");
    expect(await postrider.reached(over, "delivered", "expired")).toBe("expired");
    expect(smsc.submits.map(({ destination }) => destination.address)).toEqual(["14155551005"]);
  });
});
