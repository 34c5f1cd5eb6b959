/** A first start, and starts that cannot be, on PostgreSQL. */
import { expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { keptPort } from "../fakes/kept-port.ts";
import { openPostgresProxy } from "../fakes/postgres-proxy.ts";
import { oneProcessOnPostgres } from "../one-process.ts";
import {
  makeDataFolder,
  onPostgres,
  runPostrider,
  startCommand,
  startPostrider,
} from "../postrider-process.ts";
import { until } from "../until.ts";

const { folder, database, start, stop } = oneProcessOnPostgres();

test("the first start on a database makes the sandbox account, keeps nothing else in the folder, and further ones change nothing", async () => {
  const service = await start();
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  expect(await service.line(/"msg":"ready"/)).toContain('"database":');
  expect(statSync(join(folder(), "sandbox.json")).mode & 0o777).toBe(0o600);
  for (const name of ["postrider.db", "master.key"]) expect(existsSync(join(folder(), name))).toBeFalse();
  const { sandbox } = service;
  const other = makeDataFolder();
  const second = await startPostrider({ dataFolder: other.path, databaseUrl: database().url, sandbox });
  expect(existsSync(join(other.path, "sandbox.json"))).toBeFalse();
  const key = { headers: { Authorization: `Bearer ${sandbox.api_key}` } };
  const path = "/v1/sms/messages/01234567-89ab-7def-8123-456789abcdef";
  expect(await (await fetch(second.url + path, key)).json()).toMatchObject({ message: "message not found" });
  second.kill("SIGTERM");
  expect(await second.exited).toBe(0);
  other.remove();
});

test("a process with another master key than the database's is refused", async () => {
  await start();
  const env = { POSTRIDER_SECRET: "a different master key" };
  const other = await runPostrider({ dataFolder: folder(), databaseUrl: database().url, env });
  expect(other.code).toBe(1);
  expect(other.output).toContain("another master key (POSTRIDER_SECRET)");
  expect(other.output).not.toContain("different master");
});

test("a database that does not exist is said at once, without its password", async () => {
  const env = onPostgres(
    database().url.replace("postrider@", "postrider:hidden@").replace(/\w+$/, "nowhere"),
  );
  const { code, output } = await runPostrider({ dataFolder: folder(), env });
  expect(code).toBe(1);
  expect(output).toMatch(
    /postrider cannot start: the database at .*nowhere cannot be used: .*does not exist/,
  );
  expect(output).not.toContain("hidden");
});

for (const { setting, query, advice } of [
  { setting: "statement_timeout", query: "", advice: "DATABASE_URL ends with ?prepare=false" },
  { setting: "options", query: "?options=-c%20a%3Db&prepare=false", advice: "it is set for the role" },
]) {
  test(`a pooler that does not take ${setting} is said at once, and how to work behind it`, async () => {
    const pooler = await openRefusing("08P01", `unsupported startup parameter: ${setting}`);
    const { code, output } = await runPostrider({
      dataFolder: folder(),
      env: onPostgres(`postgres://127.0.0.1:${pooler.port}/postrider${query}`),
    });
    expect(code).toBe(1);
    expect(output).toMatch(/^postrider cannot start: .*unsupported startup parameter/m);
    expect(output).toContain(`${setting}: behind a pooler, ${advice}`);
    expect(output).not.toContain('"level"');
    pooler.close();
  });
}

test("a server that is too old for our settings is called that, in whatever language it says so", async () => {
  // PostgreSQL 13, the last that knows less, with lc_messages = 'de_DE.UTF-8'.
  const old = await openRefusing("42704", "unbekannter Konfigurationsparameter »idle_session_timeout«");
  const { code, output } = await runPostrider({
    dataFolder: folder(),
    env: onPostgres(`postgres://127.0.0.1:${old.port}/postrider`),
  });
  expect(code).toBe(1);
  expect(output).toMatch(/^postrider cannot start: .*: PostgreSQL 15 or later is needed$/m);
  old.close();
});

test("where a server lets nobody in without TLS, it is said how to reach it", async () => {
  const server = await openRefusing("28000", 'no pg_hba.conf entry for host "::1", user "u", no encryption');
  const { code, output } = await runPostrider({
    dataFolder: folder(),
    env: onPostgres(`postgres://127.0.0.1:${server.port}/postrider`),
  });
  expect(code).toBe(1);
  expect(output).toMatch(/no encryption: .* TLS is reached with \?sslmode=verify-full&sslrootcert=/);
  server.close();
});

test("a file that the URL names and that cannot be read is said at once, since it will not be there by waiting", async () => {
  const certificate = join(folder(), "missing.pem");
  const { code, output } = await runPostrider({
    dataFolder: folder(),
    env: onPostgres(`postgres://127.0.0.1:${await keptPort()}/postrider?sslrootcert=${certificate}`),
  });
  expect(code).toBe(1);
  expect(output).toMatch(/^postrider cannot start: .*ENOENT.*missing\.pem.*named in DATABASE_URL/m);
  expect(output).not.toContain('"level"');
});

/** Answers every start of a session with an error. */
async function openRefusing(code: string, reason: string) {
  const words = `SFATAL\0C${code}\0M${reason}\0\0`;
  const length = Buffer.alloc(4);
  length.writeInt32BE(Buffer.byteLength(words) + length.length);
  const pooler = createServer(
    (client) => void client.end(Buffer.concat([Buffer.from("E"), length, Buffer.from(words)])),
  );
  await new Promise<void>((resolve) => pooler.listen(0, "127.0.0.1", resolve));
  return { port: (pooler.address() as { port: number }).port, close: () => void pooler.close() };
}

test("a start that waits for its database is ended by a signal", async () => {
  const env = {
    DATABASE_URL: `postgres://127.0.0.1:${await keptPort()}/postrider`,
    POSTRIDER_SECRET: "of one start alone",
  };
  const waiting = startCommand({ dataFolder: folder(), command: "serve", env });
  await waiting.line(/cannot be used/);
  const signalledMs = performance.now();
  waiting.kill("SIGINT");
  expect(await waiting.exited).toBe(0);
  expect(performance.now() - signalledMs).toBeLessThan(10_000);
  expect(waiting.output()).toContain("stopped before it was ready");
});

test("of several hosts the one that is there is used", async () => {
  const gone = `127.0.0.1:${await keptPort()}`;
  const { url } = await start({ databaseUrl: database().url.replace("@", `@${gone},`) });
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});

test("a database that goes away makes the process not ready, and ready again when it is back", async () => {
  const port = await keptPort();
  const way = await openPostgresProxy(database().url, port);
  const { url } = await start({ databaseUrl: way.url });
  await way.close();
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  const again = await openPostgresProxy(database().url, port);
  await until(
    () => fetch(`${url}/readyz`),
    ({ status }) => status === 200,
  );
  await stop();
  await again.close();
});
