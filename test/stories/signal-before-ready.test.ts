/** A signal that comes when requests are taken already, and the start is not over yet. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
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

test.concurrent("before the first answers it turns away who waits for them, rather than leave them without one", async () => {
  const folder = makeDataFolder();
  const { url: databaseUrl, drop } = await emptyDatabase();
  const first = await startPostrider({ dataFolder: folder.path, databaseUrl });
  first.kill("SIGTERM");
  await first.exited;

  // A start looks whether there are any, once it has its port.
  const accounts = await holdTable(databaseUrl, "accounts", "ROW EXCLUSIVE");
  const port = await keptPort();
  const env = { PORT: String(port), ...onPostgres(databaseUrl) };
  const start = startCommand({ dataFolder: folder.path, command: "serve", env });
  await until(() => endsNonsense(port));
  const { answered } = await askForHealth(port);
  start.kill("SIGTERM");
  expect(await answered).toBe(503);
  expect(await start.exited).toBe(0);
  await accounts.letGo();
  await drop();
  folder.remove();
}, 180_000);

/** To read them is what a start ends with; until they are let go nobody can. */
const holdConnectors = (url: string) => holdTable(url, "connectors", "ACCESS EXCLUSIVE");

async function holdTable(url: string, table: string, mode: string): Promise<{ letGo(): Promise<void> }> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("BEGIN");
  await client.query(`LOCK TABLE ${table} IN ${mode} MODE`);
  return {
    async letGo() {
      await client.query("COMMIT");
      await client.end();
    },
  };
}

/** A request that waits for the start, and has come in. */
async function askForHealth(port: number): Promise<{ answered: Promise<number> }> {
  const answered = statusOf(port);
  // The listener itself ends what is no HTTP. It came later: by then the request has been read.
  expect(await endsNonsense(port)).toBe(true);
  return { answered };
}

/** Resolves with true when a connection with no HTTP on it has been ended, with false if there was none. */
function endsNonsense(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => void socket.write("nonsense\r\n\r\n"));
    socket.on("error", () => resolve(false)).on("data", () => {});
    socket.on("close", () => resolve(true));
  });
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
