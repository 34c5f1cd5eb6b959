/** The disk is full while webhooks are under way: what receivers answer cannot be written down. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { send } from "../admin.ts";
import { BEHAVIOURS, type FakeWebhookReceiver } from "../fakes/fake-webhook-receiver.ts";
import { canLimitFiles, limitFiles } from "../fakes/process-limits.ts";
import { startWebhookRig, type WebhookRig } from "../webhook-rig.ts";

const { CI } = process.env;
const testFullDisk = test.skipIf(!canLimitFiles && !CI); // skipped: this system cannot fill a process's disk

const MESSAGES = 5;

let rig: WebhookRig;

beforeEach(async () => {
  rig = await startWebhookRig();
});

afterEach(async () => {
  limitFiles(process.pid);
  await rig.stop();
});

/** The service runs in this process: its files are the ones that cannot grow. */
async function fillDisk(): Promise<void> {
  limitFiles(process.pid, 0);
  await writeInVain();
}

/** Writes are one after the other: those that were begun before it have failed too. */
async function writeInVain(): Promise<void> {
  const { url, sandbox } = rig.service;
  const body = { to: "+919812345678", dlt_template_id: "1107160000000000001" };
  const request = { apiKey: sandbox.api_key, path: "/v1/sms/messages", body };
  expect((await send({ url, sandbox }, request)).status).toBe(503);
}

/** Deliveries whose answer has been read, and is being written down. */
async function taken(): Promise<number> {
  const text = await (await fetch(`${rig.service.url}/metrics`)).text();
  return Number(/^postrider_webhook_deliveries_total\{outcome="delivered"\} (\d+)$/m.exec(text)?.[1]);
}

const idOf = ({ headers }: FakeWebhookReceiver["deliveries"][number]) => String(headers["webhook-id"]);

testFullDisk(
  "events that receivers took while nothing could be written are recorded once the disk has room, and come once",
  async () => {
    const { service, receiver } = rig;
    const { promise: isFull, resolve: answer } = Promise.withResolvers<void>();
    receiver.behave({ kind: "later", when: isFull });
    const ids: string[] = [];
    for (let n = 0; n < MESSAGES; n++) ids.push(await rig.sms(receiver.url({ name: `h${n}.hooks.test` })));
    await service.passUntil(() => receiver.deliveries.length >= MESSAGES, 10_000);
    await fillDisk();
    answer();
    await service.passUntil(async () => (await taken()) === MESSAGES, 10_000);
    await writeInVain();
    receiver.behave(BEHAVIOURS.ok);
    limitFiles(process.pid);
    for (const id of ids) await rig.until(id, ["delivered", "delivered"], 120_000);
    const bodies = new Map<string, string>();
    for (const delivery of receiver.deliveries) {
      expect(delivery.problem).toBeUndefined();
      expect(bodies.get(idOf(delivery)) ?? delivery.body).toBe(delivery.body);
      bodies.set(idOf(delivery), delivery.body);
    }
    const wanted = ids.flatMap((id) => [`evt_${id}_1`, `evt_${id}_2`]);
    expect([...bodies.keys()].toSorted()).toEqual(wanted.toSorted());
    expect(receiver.deliveries).toHaveLength(wanted.length);
  },
);
