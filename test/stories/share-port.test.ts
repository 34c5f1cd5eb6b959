/** Two processes on one PostgreSQL take requests on one port. */
import { expect, test } from "bun:test";
import { freshDatabase } from "../postgres-database.ts";
import { makeDataFolder, type PostriderProcess, runPostrider, startPostrider } from "../postrider-process.ts";

const REQUESTS = 60;

test("connections are shared out over both, and go on to the one that is left", async () => {
  const folder = makeDataFolder();
  const database = await freshDatabase();
  const onDatabase = { dataFolder: folder.path, databaseUrl: database.url };
  const first = await startPostrider({ ...onDatabase, args: ["--share-port"] });
  const env = { PORT: new URL(first.url).port };
  const second = await startPostrider({ ...onDatabase, args: ["--share-port"], env });
  expect(second.url).toBe(first.url);

  // Each on a connection of its own.
  const ask = async (path: string) =>
    (await fetch(first.url + path, { headers: { Connection: "close" } })).text();
  for (let n = 0; n < REQUESTS; n++) await ask("/healthz");
  const answered = answeredBy(await ask("/metrics"));
  expect(answered).toBeGreaterThan(0);
  expect(answered).toBeLessThan(REQUESTS);

  await end(first);
  for (let n = 0; n < 20; n++) expect(await ask("/healthz")).toContain("ok");
  const alone = await runPostrider({ ...onDatabase, env });
  expect(alone).toMatchObject({ code: 1, output: expect.stringContaining("nothing can be served") });
  await end(second);
  await database.drop();
  folder.remove();
}, 120_000);

test("with ports of their own for metrics each is asked for itself, also when one is gone", async () => {
  const folder = makeDataFolder();
  const database = await freshDatabase();
  const onDatabase = { dataFolder: folder.path, databaseUrl: database.url, args: ["--share-port"] };
  const start = async (env: Record<string, string>) => {
    const service = await startPostrider({ ...onDatabase, env: { METRICS_PORT: "0", ...env } });
    const { metrics } = JSON.parse(await service.line(/"msg":"ready"/)) as { metrics: string };
    const text = async () => (await fetch(`${metrics}/metrics`)).text();
    return { service, metrics, text, answered: async () => answeredBy(await text()) };
  };
  const first = await start({});
  const env = { PORT: new URL(first.service.url).port };
  const second = await start(env);
  const ask = () => fetch(`${first.service.url}/healthz`, { headers: { Connection: "close" } });
  for (let n = 0; n < REQUESTS; n++) await (await ask()).text();
  const counts = [await first.answered(), await second.answered()];
  expect(counts[0]! + counts[1]!).toBe(REQUESTS);
  expect([await first.answered(), await second.answered()]).toEqual(counts);

  const taken = { ...env, METRICS_PORT: new URL(second.metrics).port };
  const third = await runPostrider({ ...onDatabase, env: taken });
  expect(third).toMatchObject({ code: 1, output: expect.stringContaining("(METRICS_HOST, METRICS_PORT)") });

  await end(first.service);
  expect(await fetch(`${first.metrics}/readyz`).catch(({ code }) => code)).toBe("ECONNREFUSED");
  expect((await fetch(`${second.metrics}/readyz`)).status).toBe(200);
  await end(second.service);
  await database.drop();
  folder.remove();
}, 120_000);

/** What the process that is asked has answered itself. */
function answeredBy(metrics: string): number {
  const counts = metrics.matchAll(
    /^postrider_http_requests_total\{[^}]*operation="[^"]*health[^"]*"[^}]*\} (\d+)/gim,
  );
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

async function end(service: PostriderProcess): Promise<void> {
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
}
