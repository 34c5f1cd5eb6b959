/** The webhooks of one part of the program, delivered by another. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type FakeDns, startFakeDns } from "../fakes/fake-dns.ts";
import { type FakeWebhookReceiver, startFakeWebhookReceiver } from "../fakes/fake-webhook-receiver.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";
import { allowHooks, newestSecret, sendSms } from "../webhook-rig.ts";

onBothStores(() => {
  let folder: ReturnType<typeof makeDataFolder>;
  let service: PostriderProcess;
  let receiver: FakeWebhookReceiver;
  let dns: FakeDns;

  beforeEach(async () => {
    folder = makeDataFolder();
    dns = await startFakeDns();
    dns.a.set("*", ["127.0.0.1"]);
  });

  afterEach(async () => {
    service.kill("SIGKILL");
    await service.exited;
    await receiver.close();
    dns.close();
    folder.remove();
  });

  async function start(...args: string[]): Promise<void> {
    service = await startPostrider({ dataFolder: folder.path, args });
  }

  async function metric(pattern: RegExp): Promise<void> {
    await until(
      async () => (await fetch(`${service.url}/metrics`)).text(),
      (text) => pattern.test(text),
    );
  }

  test("without the webhooks role events wait, and with nothing but it they are delivered", async () => {
    await start("--roles", "api,delivery,upkeep");
    await allowHooks(service, dns.address);
    receiver = await startFakeWebhookReceiver({ secret: await newestSecret(service) });
    const id = await sendSms(service, { callback_url: receiver.url() });
    await metric(/^postrider_webhooks_ready 1$/m);
    expect(receiver.deliveries).toEqual([]);
    service.kill("SIGTERM");
    expect(await service.exited).toBe(0);

    await start("--roles", "webhooks");
    await receiver.arrived(1);
    await metric(/^postrider_webhook_deliveries_total\{outcome="delivered"\} [12]$/m);
    expect(receiver.deliveries[0]?.headers["webhook-id"]).toBe(`evt_${id}_1`);
    expect(receiver.deliveries[0]?.problem).toBeUndefined();
  });

  test("a stop lets a delivery under way end, and its record is kept", async () => {
    await start();
    await allowHooks(service, dns.address);
    receiver = await startFakeWebhookReceiver({ secret: await newestSecret(service) });
    const answer = Promise.withResolvers<void>();
    receiver.behave({ kind: "later", when: answer.promise });
    await sendSms(service, { callback_url: receiver.url() });
    await receiver.arrived(1);
    service.kill("SIGTERM");
    await service.line(/"msg":"stopping"/);
    answer.resolve();
    expect(await service.exited).toBe(0);

    receiver.behave({ kind: "answer", status: 200 });
    await start();
    await receiver.arrived(2);
    const sequences = receiver.deliveries.map(({ body }) => JSON.parse(body).data.sequence);
    expect(sequences).toEqual([1, 2]);
  });
});
