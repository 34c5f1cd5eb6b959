/**
 * Customers who each have a name below one domain (`acme.shop.example`) all get their webhooks at once after a restart, and the name
 * server is slow to answer.
 */
import { afterEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { startFakeDns } from "../fakes/fake-dns.ts";
import { BEHAVIOURS, startFakeWebhookReceiver } from "../fakes/fake-webhook-receiver.ts";
import {
  makeDataFolder,
  type PostriderProcess,
  type StartOptions,
  startPostrider,
} from "../postrider-process.ts";
import { until } from "../until.ts";
import { allowHooks, newestSecret, type ShownAttempt, type ShownWebhook, sendSms } from "../webhook-rig.ts";

/** Each is looked up with two questions. */
const HOSTS = 700;

/** On a slow machine the resolver may give up the few names that it has asked about, before they are answered. */
const FEW = 50;

const started: PostriderProcess[] = [];
const folders: ReturnType<typeof makeDataFolder>[] = [];
afterEach(async () => {
  for (const service of started) service.kill("SIGKILL");
  await Promise.all(started.splice(0).map(({ exited }) => exited));
  for (const folder of folders.splice(0)) folder.remove();
});

async function start(options: StartOptions): Promise<PostriderProcess> {
  const service = await startPostrider(options);
  started.push(service);
  return service;
}

/** What is said of the tries that failed. A connection may take longer than an attempt is given, where the machine has much to do. */
async function failedTries(service: PostriderProcess): Promise<readonly string[]> {
  const codes: string[] = [];
  for (let after: string | undefined = ""; after !== undefined; ) {
    const path = `/webhooks?account_id=${service.sandbox.account_id}&limit=500${after && `&after=${after}`}`;
    const page: { data: ShownWebhook[]; next?: string } = await admin(service, path);
    for (const { id } of page.data.filter(({ attempts }) => attempts > 1)) {
      const { data } = await admin<{ data: ShownAttempt[] }>(service, `/webhooks/${id}/attempts`);
      codes.push(...data.flatMap(({ error }) => error?.code ?? []));
    }
    after = page.next;
  }
  return codes;
}

onBothStores(() => {
  test("hundreds of names below one domain, whose webhooks wait at the start, all get them in order, without a try that fails for want of an address", async () => {
    const names = Array.from({ length: HOSTS }, (_, index) => `customer${index}.hooks.test`);
    const dns = await startFakeDns();
    dns.a.set("*", ["127.0.0.1"]);
    const folder = makeDataFolder();
    folders.push(folder);
    const away = await start({ dataFolder: folder.path, args: ["--roles", "api,delivery,upkeep"] });
    await allowHooks(away, dns.address);
    const receiver = await startFakeWebhookReceiver({ secret: await newestSecret(away) });
    const seen = new Set<string>();
    receiver.behave(({ servername, body }) => {
      seen.add(`${servername} ${JSON.parse(body).data.sequence}`);
      return BEHAVIOURS.ok;
    });
    await Promise.all(names.map((name) => sendSms(away, { callback_url: receiver.url({ name }) })));
    away.kill("SIGTERM");
    await away.exited;
    for (const name of names) dns.silent.add(name);
    const service = await start({ dataFolder: away.dataFolder, sandbox: away.sandbox });
    const count = async (metric: RegExp) =>
      Number(metric.exec(await (await fetch(`${service.url}/metrics`)).text())?.[1] ?? 0);
    const failed = () => count(/deliveries_total\{outcome="failed_try"\} (\d+)/);
    const underWay = () => count(/^postrider_webhooks_under_way (\d+)/m);
    await until(async () => (await underWay()) > HOSTS - FEW || (await failed()) > FEW);
    // The resolver asks again after two seconds.
    dns.silent.clear();
    await receiver.until(() => seen.size === 2 * HOSTS);
    const byHost = Map.groupBy(receiver.deliveries, ({ servername }) => servername);
    const tries = await failedTries(service);
    for (const deliveries of byHost.values()) {
      const told = deliveries.map(({ problem, body }) => problem ?? JSON.parse(body).data.sequence);
      // One that was taken, but too late, comes again, and one that has failed twice lets the later one pass.
      expect(tries.length === 0 ? told : [...new Set(told)].sort()).toEqual([1, 2]);
    }
    expect(tries.filter((code) => code === "dns").length).toBeLessThan(FEW);
    await receiver.close();
    dns.close();
  }, 300_000);
});
