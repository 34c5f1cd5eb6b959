/** The wall clock is set forward by hours while a provider, or a receiver, still owes its answer. */
import { afterEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { startFakeGateway } from "../fakes/fake-gateway.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { BEHAVIOURS } from "../fakes/fake-webhook-receiver.ts";
import { startHeldPostrider } from "../held-postrider.ts";
import { startLiveEmail } from "../live-email.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";
import { startWebhookRig } from "../webhook-rig.ts";

/** Longer than any lease, and than some windows. */
const LEAP_MS = 3 * 3_600_000;

/** Shorter than any time limit of an answer; sweeps come ten times a second. */
const SWEPT_MS = 2_000;

/** Within it a second attempt would be made. */
const LATER_MS = 60_000;

onBothStores(() => {
  const closing: (() => unknown)[] = [];

  /** Closes it at the end of the test. */
  function closed<T>(part: T, close: (part: T) => unknown): T {
    closing.push(() => close(part));
    return part;
  }

  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  const startHeld = async () => closed(await startHeldPostrider(), (postrider) => postrider.close());

  const kindsOf = async (live: Pick<LiveSms, "timeline">, message: Parameters<LiveSms["timeline"]>[0]) =>
    (await live.timeline(message)).map(({ kind, status }) => `${kind} ${status}`);

  test("what an SMSC has is submitted once, and delivered, even where its window seems to be over", async () => {
    const postrider = await startHeld();
    const smsc = closed(await startFakeSmsc({ receipts: "after", holdSubmits: true }), (it) => it.close());
    const live = await openLiveSms(postrider, { connectors: [await connectSmsc(postrider, smsc)] });
    const short = await live.send("+14155551901", { expire_after_seconds: 3_600 });
    const long = await live.send("+14155551902");
    await smsc.until(() => smsc.submits.length === 2);
    postrider.leap(LEAP_MS);
    await postrider.pass(SWEPT_MS);
    smsc.release();
    for (const message of [short, long]) {
      expect(await postrider.reached(message, "delivered", "failed", "expired")).toBe("delivered");
      expect(await kindsOf(live, message)).toEqual(["attempt sent", "receipt delivered"]);
    }
    await postrider.pass(LATER_MS);
    expect(smsc.submits).toHaveLength(2);
  });

  test("what a gateway has is requested once", async () => {
    const postrider = await startHeld();
    const gateway = closed(await startFakeGateway("silent"), (it) => it.close());
    const config = { provider: "kannel", base_url: gateway.url, username: "acme", password: "secret" };
    const { connector_id } = await admin<{ connector_id: string }>(postrider, "/connectors", {
      kind: "http",
      config,
    });
    const live = await openLiveSms(postrider, { connectors: [connector_id] });
    const message = await live.send("+14155551903");
    await gateway.whenRequests(1);
    postrider.leap(LEAP_MS);
    await postrider.pass(SWEPT_MS);
    gateway.release({ status: 202, body: "0: Accepted for delivery" });
    expect(await postrider.reached(message, "sent", "failed", "expired")).toBe("sent");
    await postrider.pass(LATER_MS);
    expect(gateway.requests).toHaveLength(1);
    expect(await kindsOf(live, message)).toEqual(["attempt sent"]);
  });

  test("what a mail server has is handed over once", async () => {
    const rig = closed(await startLiveEmail({ max_connections: 4 }), (it) => it.close());
    const taken = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    Object.defineProperty(rig.relay.dial, "holdMessage", {
      get() {
        taken.resolve();
        return answer.promise;
      },
    });
    const sending = rig.send(["ann"]);
    await taken.promise;
    rig.postrider.leap(LEAP_MS);
    await rig.postrider.pass(SWEPT_MS);
    answer.resolve();
    const message = await sending;
    await rig.postrider.pass(LATER_MS);
    expect(rig.relay.received).toHaveLength(1);
    expect(await kindsOf(rig, message)).toEqual(["attempt sent", "status sent"]);
  });

  test("what a receiver of webhooks has is delivered once", async () => {
    const rig = closed(await startWebhookRig(), (it) => it.stop());
    const answer = Promise.withResolvers<void>();
    rig.receiver.behave((_, index) =>
      index === 0 ? { kind: "later", when: answer.promise } : BEHAVIOURS.ok,
    );
    const id = await rig.sms();
    await rig.service.passUntil(() => rig.receiver.deliveries.length === 1, 60_000);
    rig.service.leap(LEAP_MS);
    await rig.service.pass(SWEPT_MS);
    answer.resolve();
    await rig.until(id, ["delivered", "delivered"], 30_000);
    await rig.service.pass(LATER_MS);
    const ids = rig.receiver.deliveries.map(({ headers }) => headers["webhook-id"]);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(2);
  });
});
