import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { BEHAVIOURS } from "../fakes/fake-webhook-receiver.ts";
import { startWebhookRig, type WebhookRig } from "../webhook-rig.ts";

/**
 * Steps in which a backlog is delivered. In steps of seconds, retries that come due one after another are all tried at one moment, and
 * more are refused.
 */
const STEP_MS = 250;

/** Of the nine tries of an event. Two are usual here; a third depends on chance, and the next try is five minutes later. */
const MOST_REFUSALS = 3;

/** Of 80 events, those that are refused so often: none or two, but more than ten if the host is not paused. */
const FEW = 4;

onBothStores(() => {
  let rig: WebhookRig;
  beforeEach(async () => {
    rig = await startWebhookRig();
  });
  afterEach(() => rig.stop());

  /** Goes on when the event that waits longest is tried again. */
  async function delivered(id: string): Promise<void> {
    const waiting = (await rig.events(id)).filter(({ state }) => state === "waiting");
    const rests = waiting.map(({ next_attempt_at: at = "" }) => Date.parse(at) - rig.service.now());
    rig.service.leap(Math.max(0, ...rests));
    await rig.until(id, ["delivered", "delivered"]);
  }

  test("a receiver that asks for two minutes is left alone for two minutes", async () => {
    const askedAt: number[] = [];
    rig.receiver.behave((_, index) => {
      askedAt.push(rig.service.now());
      return index === 0 ? BEHAVIOURS.throttled : BEHAVIOURS.ok;
    });
    const id = await rig.sms();
    await rig.until(id, ["waiting", "held"]);
    await rig.service.pass(118_000);
    await rig.until(id, ["delivered", "delivered"]);
    const [first = 0, second = 0] = askedAt;
    expect(second - first).toBeGreaterThanOrEqual(120_000);
  });

  test("a receiver that limits its rate and does not say for how long takes a backlog without using up the tries of its events", async () => {
    let room = 5;
    let at = rig.service.now();
    const refusals = new Map<unknown, number>();
    /** Those that were taken, or have been refused so often that they wait for minutes. */
    const past = new Set<unknown>();
    rig.receiver.behave(({ headers: { "webhook-id": event } }) => {
      room = Math.min(5, room + ((rig.service.now() - at) / 1_000) * 2);
      at = rig.service.now();
      if (room >= 1) {
        room--;
        past.add(event);
        return BEHAVIOURS.ok;
      }
      const refused = (refusals.get(event) ?? 0) + 1;
      refusals.set(event, refused);
      if (refused === MOST_REFUSALS) past.add(event);
      return { kind: "answer", status: 429 };
    });
    const ids: string[] = [];
    for (let each = 0; each < 40; each++) ids.push(await rig.sms());
    for (let ms = 0; past.size < 80 && ms < 300_000; ms += STEP_MS) {
      await rig.service.pass(STEP_MS);
      // Asks over a socket, so that time does not run ahead of what the sockets of deliveries bring.
      await rig.events(ids[0]!);
    }
    expect(past.size).toBe(80);
    const refusedMost = [...refusals.values()].filter((times) => times >= MOST_REFUSALS);
    expect(refusedMost.length).toBeLessThanOrEqual(FEW);
    for (const id of ids) await delivered(id);
    expect(Math.max(...refusals.values())).toBeLessThanOrEqual(MOST_REFUSALS);
    expect(rig.receiver.deliveries.length).toBeLessThan(3 * 80);
  });

  test("the other events for a receiver that asks for time wait no longer than a minute, and meanwhile its host is shown as paused", async () => {
    rig.receiver.behave((_, index) => (index === 0 ? BEHAVIOURS.throttled : BEHAVIOURS.ok));
    const first = await rig.sms();
    await rig.until(first, ["waiting", "held"]);
    const { data } = await admin<{ data: { paused_until: string }[] }>(rig.service, "/webhooks/hosts");
    expect(data).toMatchObject([
      { host: `hooks.test:${rig.receiver.port}`, reason: "status 429", failures: 1 },
    ]);
    const logged = rig.service.logged.find(({ msg }) => msg === "webhooks to a host are paused");
    expect(logged).toMatchObject({
      account_id: rig.service.sandbox.account_id,
      paused_until: data[0]?.paused_until,
    });
    const second = await rig.sms();
    await rig.service.pass(58_000);
    expect(rig.receiver.deliveries).toHaveLength(1);
    await rig.until(second, ["delivered", "delivered"], 5_000);
    expect(await admin(rig.service, "/webhooks/hosts")).toEqual({ data: [], is_delivering: true });
  });
});
