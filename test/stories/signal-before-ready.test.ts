/** A signal that comes when requests are answered already, and the start is not over yet. */
import { expect, test } from "bun:test";
import { Client } from "pg";
import { keptPort } from "../fakes/kept-port.ts";
import { emptyDatabase } from "../postgres-database.ts";
import { makeDataFolder, onPostgres, startCommand, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

/** Longer than a start may go on after a signal where nobody is answered yet (1 s). */
const WAIT_S = 3;

test.concurrent.each(["SIGTERM", "SIGINT"] as const)(
  "%s between the first answers and ready cuts off no request, and the process ends cleanly",
  async (signal) => {
    const folder = makeDataFolder();
    const { url: databaseUrl, drop } = await emptyDatabase();
    const first = await startPostrider({ dataFolder: folder.path, databaseUrl });
    first.kill("SIGTERM");
    await first.exited;

    const connectors = await holdConnectors(databaseUrl);
    const port = await keptPort();
    const env = { PORT: String(port), ...onPostgres(databaseUrl) };
    const start = startCommand({ dataFolder: folder.path, command: "serve", env });
    await firstAnswer(port);
    const { answered } = await waitForEvents(port, first.sandbox.api_key);
    start.kill(signal);
    expect(await answered).toBe(200);
    expect(start.output()).not.toContain('"msg":"ready"');

    await connectors.letGo();
    expect(await start.exited).toBe(0);
    const said = start.output().matchAll(/"msg":"(ready|stop[^"]*)"/g);
    expect([...said].map(([, words]) => words)).toEqual(["ready", "stopping", "stopped"]);
    await drop();
    folder.remove();
  },
  180_000,
);

/** To read them is what a start ends with; until they are let go nobody can. */
async function holdConnectors(url: string): Promise<{ letGo(): Promise<void> }> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("BEGIN");
  await client.query("LOCK TABLE connectors IN ACCESS EXCLUSIVE MODE");
  return {
    async letGo() {
      await client.query("COMMIT");
      await client.end();
    },
  };
}

async function firstAnswer(port: number): Promise<void> {
  await until(
    () => statusOf(port).catch(() => 0),
    (status) => status === 200,
  );
}

async function statusOf(port: number): Promise<number> {
  return (await fetch(`http://127.0.0.1:${port}/healthz`, { keepalive: false })).status;
}

/** A request that takes its time on purpose, and has come in. */
async function waitForEvents(port: number, apiKey: string): Promise<{ answered: Promise<number> }> {
  const response = fetch(`http://127.0.0.1:${port}/v1/events?after=now&wait=${WAIT_S}`, {
    headers: { Authorization: `Bearer ${apiKey}` },
  });
  // On a connection that comes after its own: when this is answered, the first has been read.
  await statusOf(port);
  return { answered: response.then(({ status }) => status) };
}
