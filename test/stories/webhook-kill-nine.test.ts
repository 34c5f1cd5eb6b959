/** The process is killed when a receiver has an event, and nobody has written down that it does. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeDns, startFakeDns } from "../fakes/fake-dns.ts";
import {
  BEHAVIOURS,
  type FakeWebhookReceiver,
  startFakeWebhookReceiver,
} from "../fakes/fake-webhook-receiver.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";
import { allowHooks, newestSecret, type ShownWebhook, sendSms } from "../webhook-rig.ts";

const LATER = fileURLToPath(new URL("../fakes/later.ts", import.meta.url));
const LEASE_MS = 60_000;

onBothStores(() => {
  let awayMs: number;
  let folder: ReturnType<typeof makeDataFolder>;
  let service: PostriderProcess;
  let receiver: FakeWebhookReceiver;
  let dns: FakeDns;

  beforeEach(async () => {
    awayMs = 0;
    folder = makeDataFolder();
    dns = await startFakeDns();
    dns.a.set("*", ["127.0.0.1"]);
    service = await startPostrider({ dataFolder: folder.path });
    await allowHooks(service, dns.address);
    receiver = await startFakeWebhookReceiver({ secret: await newestSecret(service) });
  });

  afterEach(async () => {
    service.kill("SIGKILL");
    await service.exited;
    await receiver.close();
    dns.close();
    folder.remove();
  });

  /** It is away until its leases have ended: on PostgreSQL another process might be carrying the events. */
  async function killAndRestart(): Promise<void> {
    service.kill("SIGKILL");
    await service.exited;
    awayMs += LEASE_MS;
    const env = { AHEAD_MS: String(awayMs) };
    service = await startPostrider({ dataFolder: folder.path, preload: LATER, env });
  }

  const idOf = ({ headers }: FakeWebhookReceiver["deliveries"][number]) => String(headers["webhook-id"]);

  test("the event arrives again under the same webhook-id with the same body, and nothing is lost", async () => {
    receiver.behave(BEHAVIOURS.silent);
    const ids = [];
    for (let n = 0; n < 5; n++) {
      ids.push(await sendSms(service, { callback_url: receiver.url({ name: `h${n}.hooks.test` }) }));
    }
    await receiver.arrived(5);
    receiver.behave(BEHAVIOURS.ok);
    await killAndRestart();
    const wanted = ids.flatMap((id) => [`evt_${id}_1`, `evt_${id}_2`]);
    await receiver.until(() => {
      const again = new Set(receiver.deliveries.slice(5).map(idOf));
      return wanted.every((id) => again.has(id));
    });
    for (const lost of receiver.deliveries.slice(0, 5)) {
      const again = receiver.deliveries.slice(5).find((delivery) => idOf(delivery) === idOf(lost));
      expect(again).toMatchObject({ body: lost.body, path: lost.path, problem: undefined });
    }
  });

  test("killed again and again while webhooks flow, every event arrives", async () => {
    const ids: string[] = [];
    for (let round = 0; round < 3; round++) {
      const had = receiver.deliveries.length;
      for (let n = 0; n < 10; n++) ids.push(await sendSms(service, { callback_url: receiver.url() }));
      await receiver.arrived(had + 3);
      await killAndRestart();
    }
    const wanted = ids.flatMap((id) => [`evt_${id}_1`, `evt_${id}_2`]);
    await receiver.until(() => {
      const seen = new Set(receiver.deliveries.map(idOf));
      return wanted.every((id) => seen.has(id));
    });
    for (const id of ids) {
      const states = async () => {
        const { data } = await admin<{ data: ShownWebhook[] }>(service, `/webhooks?message_id=${id}`);
        return data.map(({ state }) => state).join();
      };
      await until(states, (all) => all === "delivered,delivered");
    }
    expect(receiver.deliveries.filter(({ problem }) => problem !== undefined)).toEqual([]);
  }, 180_000);
});
