/** Several receivers of an account are behind one host, and one of them fails, such as a workflow that was turned off. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { BEHAVIOURS } from "../fakes/fake-webhook-receiver.ts";
import { startWebhookRig, type WebhookRig } from "../webhook-rig.ts";

onBothStores(() => {
  const MINUTE = 60_000;

  let rig: WebhookRig;
  beforeEach(async () => {
    rig = await startWebhookRig();
  });
  afterEach(() => rig.stop());

  test("events for another URL are found behind those for one that fails, and then nothing pauses them", async () => {
    const { receiver, service } = rig;
    receiver.behave(({ path }) => (path === "/off" ? { kind: "answer", status: 404 } : BEHAVIOURS.ok));
    const [on, off] = [receiver.url({ path: "/on" }), receiver.url({ path: "/off" })];
    const ring = async (count: number) => {
      for (let n = 0; n < count; n++) await rig.sms(off);
    };
    await ring(20);
    const pauses = () => service.logged.filter(({ msg }) => msg === "webhooks to a host are paused").length;
    await service.passUntil(() => pauses() > 0, 10 * MINUTE);
    const first = await rig.sms(on);
    await ring(20);
    await rig.until(first, ["delivered", "delivered"], MINUTE);
    for (let rounds = 0; rounds < 3; rounds++) {
      await ring(20);
      const next = await rig.sms(on);
      await rig.until(next, ["delivered", "delivered"], MINUTE);
      await service.pass(MINUTE);
    }
    expect(pauses()).toBe(1);
  }, 120_000);

  test("events for one URL that fails, however many, do not keep those for another on its host waiting", async () => {
    const { receiver, service } = rig;
    receiver.behave(({ path }) => (path === "/off" ? { kind: "answer", status: 404 } : BEHAVIOURS.ok));
    for (let n = 0; n < 40; n++) await rig.sms(receiver.url({ path: "/off" }));
    const isPaused = () => service.logged.some(({ msg }) => msg === "webhooks to a host are paused");
    await service.passUntil(isPaused, 10 * MINUTE);
    const id = await rig.sms(receiver.url({ path: "/on" }));
    await rig.until(id, ["delivered", "delivered"], 15 * MINUTE);
    expect(receiver.deliveries.map(({ path }) => path)).toContain("/on");
  }, 120_000);

  test("after a start, events for another URL are found within seconds, though soon hundreds for one that fails are newer", async () => {
    const { receiver, service } = rig;
    receiver.behave(({ path }) => (path === "/off" ? { kind: "answer", status: 500 } : BEHAVIOURS.ok));
    const ring = async (count: number) => {
      for (let n = 0; n < count; n++) await rig.sms(receiver.url({ path: "/off" }));
    };
    await ring(10);
    await service.passUntil(() => receiver.deliveries.length >= 10, 1_000);
    await rig.sms(receiver.url({ path: "/on" }));
    const isFound = () => receiver.deliveries.some(({ path }) => path === "/on");
    for (let second = 0; second < 5 && !isFound(); second++) {
      await ring(8);
      await service.pass(1_000);
    }
    expect(isFound()).toBe(true);
  }, 120_000);
});
