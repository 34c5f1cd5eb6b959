import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { keptPort } from "../fakes/kept-port.ts";
import { until } from "../until.ts";
import { type ShownWebhook, startWebhookRig, type WebhookRig } from "../webhook-rig.ts";

onBothStores(() => {
  const MINUTE = 60_000;
  const HOUR = 60 * MINUTE;
  const DAY = 24 * HOUR;

  let rig: WebhookRig;
  let port: number;
  beforeEach(async () => {
    rig = await startWebhookRig();
    port = await keptPort();
  });
  afterEach(() => rig.stop());

  /** An SMS whose receiver is not there. */
  const smsToNobody = () => rig.sms(`https://hooks.test:${port}/hook`);

  /** It has taken something, and is away. */
  async function receiverGoesDown(): Promise<void> {
    const receiver = await rig.addReceiver({ port });
    await rig.until(await rig.sms(receiver.url()), ["delivered", "delivered"]);
    await receiver.close();
  }

  /** Lets the next try happen, however far away it is; the states after it. */
  async function nextTry(messageId: string): Promise<readonly string[]> {
    const before = await rig.events(messageId);
    const due = Math.min(...before.flatMap((event) => Date.parse(event.next_attempt_at ?? "") || []));
    rig.service.leap(Math.max(0, due - rig.service.now()));
    const tries = (events: typeof before) => events.reduce((sum, { attempts }) => sum + attempts, 0);
    let after = before;
    const isTried = async () => {
      after = await rig.events(messageId);
      return (
        tries(after) > tries(before) && after.every(({ state }) => state === "waiting" || state === "failed")
      );
    };
    await rig.service.passUntil(isTried, MINUTE);
    return after.map(({ state }) => state);
  }

  test("what happened while a receiver was down for a day arrives when it is back, each event under its first id", async () => {
    await receiverGoesDown();
    const start = rig.service.now();
    const id = await smsToNobody();
    await rig.until(id, ["waiting", "waiting"], MINUTE);
    const lastDue = async () =>
      Math.max(...(await rig.events(id)).map(({ next_attempt_at: at }) => Date.parse(at ?? "")));
    await until(
      () => nextTry(id).then(lastDue),
      (due) => due - start >= DAY,
      { pauseMs: 0 },
    );
    const back = await rig.addReceiver({ port });
    rig.service.leap((await lastDue()) - rig.service.now());
    await rig.until(id, ["delivered", "delivered"], MINUTE);
    const ids = back.deliveries.map(({ headers, problem }) => [headers["webhook-id"], problem]);
    expect(ids.sort()).toEqual([
      [`evt_${id}_1`, undefined],
      [`evt_${id}_2`, undefined],
    ]);
  });

  test("a start during an outage costs a backlog ten tries and not one of each event, which all arrive when the receiver is back", async () => {
    const { service } = rig;
    const ids: string[] = [];
    for (let n = 0; n < 30; n++) ids.push(await smsToNobody());
    const isPaused = () => service.logged.some(({ msg }) => msg === "webhooks to a host are paused");
    await service.passUntil(isPaused, MINUTE);
    const failures = async () => {
      const path = `/webhooks?account_id=${service.sandbox.account_id}&limit=500`;
      const { data } = await admin<{ data: ShownWebhook[] }>(service, path);
      return data.reduce((sum, event) => sum + event.failures, 0);
    };
    // It is paused before the last try is stored.
    expect(await until(failures, (count) => count >= 10)).toBe(10);
    await rig.addReceiver({ port });
    for (const id of ids) await rig.until(id, ["delivered", "delivered"], 5 * MINUTE);
    expect(await failures()).toBe(10);
  });

  test("after nine tries over two days an event rests as failed, and all failed of the host can be replayed", async () => {
    await receiverGoesDown();
    const start = rig.service.now();
    const id = await smsToNobody();
    await rig.until(id, ["waiting", "waiting"], MINUTE);
    await until(
      () => nextTry(id),
      (states) => states.join() === "failed,failed",
      { pauseMs: 0 },
    );
    const hours = (rig.service.now() - start) / HOUR;
    expect(hours).toBeGreaterThan(37);
    expect(hours).toBeLessThan(46);
    const [first] = await rig.events(id);
    expect(await rig.attempts(first!.id)).toHaveLength(9);
    expect((await rig.attempts(first!.id))[8]?.error?.code).toBe("connect");

    const back = await rig.addReceiver({ port });
    const selection = {
      account_id: rig.service.sandbox.account_id,
      host: `hooks.test:${port}`,
      failed: true,
    };
    expect(await admin(rig.service, "/webhooks/replay", selection)).toEqual({ replayed: 2 });
    await rig.until(id, ["delivered", "delivered"], HOUR);
    expect(back.deliveries.map(({ headers }) => headers["webhook-id"])).toEqual([
      `evt_${id}_1`,
      `evt_${id}_2`,
    ]);
  });
});
