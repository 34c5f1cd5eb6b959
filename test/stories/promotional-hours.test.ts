/** Promotional messages go to Indian numbers in the daytime there: what comes at night waits, and does not fail. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";

onBothStores(() => {
  let postrider: HeldPostrider;
  let smsc: FakeSmsc;

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([startHeldPostrider(), startFakeSmsc({ receipts: "after" })]);
  });

  afterEach(async () => {
    await smsc.close();
    await postrider.close();
  });

  const MINUTE = 60_000;
  const HOUR = 60 * MINUTE;
  const TURNS_MS = 2_000;
  const REASON = "promotional messages go to Indian numbers at 10:00-21:00 Asia/Kolkata";

  async function promote(settings: Record<string, string> = {}): Promise<LiveSms> {
    const live = await openLiveSms(postrider, {
      connectors: [await connectSmsc(postrider, smsc)],
      body: "Sale at Acme",
      settings: { default_dlt_entity_id: "1101172974420810001", ...settings },
    });
    const registered = { category: "promotional", dlt_template_id: "1107161234567890123" };
    await admin(postrider, `/sms-templates/${live.templateId}`, registered, "PATCH");
    return live;
  }

  /** Leaps to the next time that clocks in India show so. */
  function leapTo(time: string): void {
    const [hours = 0, minutes = 0] = time.split(":").map(Number);
    const day = 24 * HOUR;
    const ofDay = (postrider.now() + 5.5 * HOUR) % day;
    postrider.leap((hours * HOUR + minutes * MINUTE - ofDay + day) % day);
  }

  /** So much time, in which upkeep gets its turns. */
  async function wait(ms: number): Promise<void> {
    postrider.leap(ms - TURNS_MS);
    await postrider.pass(TURNS_MS);
  }

  function timeInIndia(): string {
    return new Date(postrider.now() + 5.5 * HOUR).toISOString().slice(11, 16);
  }

  test("what is asked for at night waits as queued, says why, and goes in the morning", async () => {
    leapTo("21:30");
    const live = await promote();
    const message = await live.send("+919876543210");
    await wait(10 * MINUTE);
    expect(await postrider.status(message)).toBe("queued");
    const [entry] = await live.timeline(message);
    expect(entry).toMatchObject({ kind: "status", status: "queued", detail: { reason: REASON } });
    expect(entry?.detail?.deferred_until).toEndWith("T04:30:00.000Z");
    leapTo("09:59");
    await wait(55_000);
    expect(smsc.submits).toHaveLength(0);
    await postrider.reached({ ...message, withinMs: 10_000 }, "delivered");
    expect(timeInIndia()).toBe("10:00");
  });

  test("a dry run by night says until when a message would wait, and when it would expire", async () => {
    leapTo("21:30");
    const live = await promote();
    const ask = async (over: object) => {
      const body = { to: "+919876543210", template_id: live.templateId, dry_run: true, ...over };
      return (await send(postrider, { apiKey: live.apiKey, path: "/v1/sms/messages", body })).body;
    };
    const patient = await ask({});
    expect(patient).toMatchObject({ would_send: true, status: "queued" });
    expect(String(patient.deferred_until)).toEndWith("T04:30:00.000Z");
    expect(String(patient.deferred_until) < String(patient.expires_at)).toBe(true);
    const hasty = await ask({ expire_after_seconds: 300 });
    expect(Date.parse(String(hasty.expires_at)) - postrider.now()).toBeLessThanOrEqual(5 * MINUTE);
    expect(await ask({ to: "+14155550101" })).not.toHaveProperty("deferred_until");
  });

  test("other messages, and those to other countries, are not kept waiting", async () => {
    leapTo("22:00");
    const live = await promote();
    await postrider.reached(await live.send("+14155550101"), "delivered");
    await admin(postrider, `/sms-templates/${live.templateId}`, { category: "service_explicit" }, "PATCH");
    await postrider.pass(2_000);
    await postrider.reached(await live.send("+919876543210"), "delivered");
  });

  test("what cannot wait till the morning expires at the end of its window", async () => {
    leapTo("20:59");
    const live = await promote();
    leapTo("21:05");
    const message = await live.send("+919876543210", { expire_after_seconds: 300 });
    await wait(5 * MINUTE - 2_000);
    expect(await postrider.status(message)).toBe("queued");
    await postrider.reached({ ...message, withinMs: 5_000 }, "expired");
    expect(smsc.submits).toHaveLength(0);
  });

  test("a retry that would land in the night waits for the morning", async () => {
    leapTo("20:59");
    const live = await promote();
    smsc.dial.submitStatus = 0x08;
    const message = await live.send("+919876543210");
    await postrider.passUntil(() => smsc.submits.length > 0, MINUTE);
    leapTo("21:01");
    delete smsc.dial.submitStatus;
    const isDeferred = async () =>
      (await live.timeline(message)).some(({ detail }) => detail?.deferred_until);
    await postrider.passUntil(isDeferred, 5 * MINUTE);
    const sentBefore = smsc.submits.length;
    expect(await postrider.status(message)).toBe("queued");
    await wait(10 * MINUTE);
    expect(smsc.submits).toHaveLength(sentBefore);
    leapTo("10:00");
    await postrider.reached(message, "delivered");
    const deferred = (await live.timeline(message)).filter(({ detail }) => detail?.deferred_until);
    expect(deferred).toMatchObject([{ kind: "status", status: "queued", detail: { reason: REASON } }]);
  });

  test("a message scheduled into the night stays scheduled till the morning", async () => {
    leapTo("12:00");
    const live = await promote();
    const schedule_at = new Date(postrider.now() + 10 * HOUR).toISOString();
    const message = await live.send("+919876543210", { schedule_at });
    leapTo("22:30");
    await wait(MINUTE);
    expect(await postrider.status(message)).toBe("scheduled");
    leapTo("10:00");
    await postrider.reached(message, "delivered");
  });

  test("the hours are a setting", async () => {
    leapTo("21:30");
    const live = await promote({ dlt_promotional_hours: "09:00-22:00" });
    await postrider.reached(await live.send("+919876543210"), "delivered");
    const value = "21:00-10:00";
    const path = `/settings/dlt_promotional_hours?account_id=${live.accountId}`;
    await expect(admin(postrider, path, { value }, "PUT")).rejects.toThrow("the earlier first");
  });
});
