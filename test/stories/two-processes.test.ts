/** Two processes on one PostgreSQL share the binds of an SMSC; one is killed, and the other goes on with all of them. */
import { afterEach, expect, test } from "bun:test";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";
import { freshDatabase } from "../postgres-database.ts";
import type { TestDatabase } from "../postgres-server.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

const BINDS = 4;
const MESSAGES = 200;

const folders = [makeDataFolder(), makeDataFolder()] as const;
let database: TestDatabase;
let smsc: FakeSmsc;
let services: PostriderProcess[] = [];

afterEach(async () => {
  for (const service of services) service.kill("SIGKILL");
  await Promise.all(services.map(({ exited }) => exited));
  services = [];
  await smsc.close();
  await database.drop();
  for (const folder of folders) folder.remove();
});

async function upBinds({ url }: PostriderProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^postrider_connector_binds\{.*state="up"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

async function statusOf(service: PostriderProcess, { apiKey, path }: { apiKey: string; path: string }) {
  const response = await fetch(service.url + path, { headers: { Authorization: `Bearer ${apiKey}` } });
  return ((await response.json()) as { status: string }).status;
}

function sendAll(live: LiveSms, from: number) {
  return Promise.all(
    Array.from({ length: MESSAGES }, (_, index) => live.send(`+4477009${10_000 + from + index}`)),
  );
}

test("two processes never have more binds than the connector, share its messages, and one takes over within 15 s when the other is killed", async () => {
  database = await freshDatabase();
  smsc = await startFakeSmsc({ receipts: "after" });
  let most = 0;
  let boundAt = 0;
  smsc.dial.bindStatus = () => {
    most = Math.max(most, smsc.bound().length + 1);
    boundAt = performance.now();
    return undefined;
  };
  const one = await startPostrider({ dataFolder: folders[0].path, databaseUrl: database.url });
  const { sandbox } = one;
  services = [one, await startPostrider({ dataFolder: folders[1].path, databaseUrl: database.url, sandbox })];
  const [, two] = services as [PostriderProcess, PostriderProcess];
  const connector = await connectSmsc(one, smsc, { binds: BINDS, response_timeout_ms: 2_000 });
  for (const service of [one, two])
    await until(
      () => upBinds(service),
      (up) => up === 2,
    );
  expect(smsc.bound()).toHaveLength(BINDS);

  const live = await openLiveSms(one, { connectors: [connector] });
  const first = await sendAll(live, 0);
  for (const message of first)
    await until(
      () => statusOf(two, message),
      (status) => status === "delivered",
    );

  const load = sendAll(live, MESSAGES);
  await smsc.until(() => smsc.submits.length > MESSAGES + 20);
  two.kill("SIGKILL");
  const killedAt = performance.now();
  await smsc.until(() => smsc.bound().length === 2);
  await until(
    () => upBinds(one),
    (up) => up === BINDS,
  );
  expect(boundAt - killedAt).toBeLessThan(16_000);
  expect(most).toBeLessThanOrEqual(BINDS);

  // What the other had claimed is found again, and may have left already.
  const second = await load;
  for (const message of second) {
    await until(
      () => statusOf(one, message),
      (status) => ["sent", "delivered"].includes(status),
    );
  }
  const times = Map.groupBy(smsc.submits, ({ destination }) => destination.address);
  expect(times.size).toBe(2 * MESSAGES);
  for (const message of first) expect(await statusOf(one, message)).toBe("delivered");
  expect(Math.max(...[...times.values()].map((each) => each.length))).toBeLessThanOrEqual(2);
}, 240_000);
