/** The master key of a PostgreSQL database is changed, and the command may die at any moment of it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { createMailKeys } from "../../src/cli/email/mail-keys.ts";
import type { RotationStep } from "../../src/cli/keys/rotate-key.ts";
import { readHosts } from "../../src/store/postgres/connections/hosts.ts";
import { admin } from "../admin.ts";
import { keptPort } from "../fakes/kept-port.ts";
import { openPostgresProxy } from "../fakes/postgres-proxy.ts";
import { makeOlderDatabase, OLDER } from "../older-database.ts";
import { ownProcess } from "../one-process.ts";
import { copyOf, freshDatabase } from "../postgres-database.ts";
import type { TestDatabase } from "../postgres-server.ts";
import {
  makeDataFolder,
  onPostgres,
  type PostriderProcess,
  runPostrider,
  type Sandbox,
  startPostrider,
} from "../postrider-process.ts";
import { onServer } from "../stored-rows.ts";
import { BARE, tablesAfter } from "../tables-after.ts";

const ROTATE = join(import.meta.dir, "../../src/cli/keys/rotate-shared-key.ts");
const OLD = "the first secret, of some length";
const NEW = "the next secret, of some length";

/** A database with a secret of every kind, at rest, and the folder beside it. Each test has a copy of both. */
let made: { path: string; database: TestDatabase; sandbox: Sandbox; secrets: object; remove: () => void };

beforeAll(async () => {
  const folder = makeDataFolder();
  const database = await freshDatabase();
  const env = { POSTRIDER_SECRET: OLD };
  const service = await startPostrider({ dataFolder: folder.path, databaseUrl: database.url, env });
  const config = { host: "127.0.0.1", port: 1, username: "acme", password: "s3cret-of-relay" };
  await admin(service, "/connectors", { kind: "smtp", name: "relay", config });
  await admin(service, "/domains", { account_id: service.sandbox.account_id, domain: "example.com" });
  await setAlarmSecret(service, "the operator's own");
  made = { ...folder, database, sandbox: service.sandbox, secrets: await shownSecrets(service) };
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
}, 120_000);

afterAll(async () => {
  await made.database.drop();
  made.remove();
});

function shownSecrets(service: PostriderProcess): Promise<object> {
  return admin(service, `/webhooks/secret?account_id=${service.sandbox.account_id}`);
}

function setAlarmSecret(service: PostriderProcess, text: string): Promise<unknown> {
  const value = `whsec_${btoa(text.padEnd(24, "-"))}`;
  return admin(service, "/settings/alarm_webhook_secret", { value }, "PUT");
}

type World = Awaited<ReturnType<typeof openWorld>>;

/** A copy of that database and its folder, and a service on it, one at a time. */
async function openWorld() {
  const own = ownProcess();
  cpSync(made.path, own.folder(), { recursive: true });
  const database = await copyOf(made.database);
  const start = (secret: string, databaseUrl = database.url) =>
    own.start({ databaseUrl, env: { POSTRIDER_SECRET: secret } });
  return {
    ...own,
    databaseUrl: database.url,
    start,
    /** Starts a service, which shows the secrets that were made. */
    async expectSecrets(secret: string): Promise<void> {
      expect(await shownSecrets(await start(secret))).toEqual(made.secrets);
    },
    rotate: (from = OLD, to = NEW, ...args: string[]) =>
      runPostrider({
        dataFolder: own.folder(),
        databaseUrl: database.url,
        command: "rotate-key",
        env: { POSTRIDER_SECRET: from, POSTRIDER_NEW_SECRET: to },
        args,
      }),
    async [Symbol.asyncDispose]() {
      await own[Symbol.asyncDispose]();
      await database.drop();
    },
  };
}

/** Every sealed value of the database, by where it is. */
async function sealedValues({ databaseUrl }: World): Promise<Map<string, string>> {
  const tables = await onServer<{ name: string }>(
    databaseUrl,
    "SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace",
  );
  const found = new Map<string, string>();
  for (const { name } of tables) {
    for (const row of await onServer(databaseUrl, `SELECT * FROM ${name}`)) {
      for (const [column, value] of Object.entries(row)) {
        if (/^v1\.[A-Za-z0-9+/=]{38,}$/.test(String(value))) found.set(`${name}.${column}`, String(value));
      }
    }
  }
  return found;
}

test.concurrent("while a move or a restore fills the database its key stays: what is still to come is sealed under the old one", async () => {
  await using world = await openWorld();
  const { databaseUrl, rotate, expectSecrets } = world;
  await onServer(databaseUrl, "INSERT INTO meta (name, value) VALUES ('moving_from', 'a backup')");
  const before = await sealedValues(world);
  expect(await rotate()).toMatchObject({ code: 1, output: expect.stringContaining("half of it is missing") });
  expect(await sealedValues(world)).toEqual(before);
  await onServer(databaseUrl, "DELETE FROM meta WHERE name = 'moving_from'");
  await expectSecrets(OLD);
});

test.concurrent("after a rotation every secret opens under the new key, and the old one is of no use", async () => {
  await using world = await openWorld();
  const { databaseUrl, folder, stop, rotate, expectSecrets } = world;
  const before = await sealedValues(world);
  const places = ["connectors.secrets", "domains.dkim_keys", "settings.value", "webhook_secrets.secret"];
  expect([...before.keys()].sort()).toEqual(places);
  expect(await rotate()).toMatchObject({
    code: 0,
    output: expect.stringContaining(`all secrets in ${readHosts(databaseUrl).place} are now encrypted`),
  });
  const after = await sealedValues(world);
  for (const [place, value] of before) expect([place, after.get(place)]).not.toEqual([place, value]);
  expect((await rotate()).output).toContain("has already");
  expect((await rotate(OLD, "another secret, of some length")).output).toContain("neither POSTRIDER_SECRET");

  await expectSecrets(NEW);
  await stop();
  const env = { POSTRIDER_SECRET: OLD };
  const refused = await runPostrider({ dataFolder: folder(), databaseUrl, env });
  expect(refused).toMatchObject({ code: 1, output: expect.stringContaining("under another master key") });
}, 180_000);

test.concurrent("the key file of the data folder is put aside if it was this database's, and is left alone if it is another's", async () => {
  await using world = await openWorld();
  const { folder, rotate } = world;
  const file = join(folder(), "master.key");
  writeFileSync(file, "of the service on SQLite in this folder\n");
  expect((await rotate()).code).toBe(0);
  expect((await rotate()).output).toContain("has already");
  expect(readFileSync(file, "utf8")).toBe("of the service on SQLite in this folder\n");

  writeFileSync(file, `${NEW}\n`);
  expect((await rotate(NEW, "another secret, of some length")).code).toBe(0);
  expect(existsSync(file)).toBe(false);
  expect(readFileSync(`${file}.previous`, "utf8")).toBe(`${NEW}\n`);
}, 180_000);

test.concurrent("the new key is given, and long enough", async () => {
  await using world = await openWorld();
  const { rotate } = world;
  expect((await rotate(OLD, "")).output).toContain("POSTRIDER_NEW_SECRET: required with DATABASE_URL");
  expect((await rotate(OLD, "short")).output).toContain("at least 16 characters");
}, 180_000);

const STEPS: readonly RotationStep[] = ["sealed", "committed"];

for (const step of STEPS) {
  test.concurrent(`killed at "${step}", the database is wholly under ${step === "sealed" ? "the old" : "the new"} key`, async () => {
    await using world = await openWorld();
    const { databaseUrl, folder, service, stop, rotate, expectSecrets } = world;
    const code = `
      import { randomBytes } from "node:crypto";
      import { rotateSharedKey } from ${JSON.stringify(ROTATE)};
      const { POSTRIDER_DATA: dataFolder, DATABASE_URL: databaseUrl } = process.env;
      const keys = { secret: ${JSON.stringify(OLD)}, newSecret: ${JSON.stringify(NEW)} };
      let left;
      const onStep = (step) => {
        if (step !== ${JSON.stringify(step)}) return;
        process.stdout.write(left);
        process.kill(process.pid, "SIGKILL");
      };
      const onCutOff = (words) => (left = words);
      await rotateSharedKey({ dataFolder, databaseUrl, ...keys, forgetLinks: false, randomBytes, onCutOff, onStep });`;
    const killed = await runPostrider({ dataFolder: folder(), databaseUrl, main: "-e", command: code });
    const words =
      step === "sealed" ? "the database has the old key or the new one" : "the rotation is complete";
    expect(killed).toEqual({ code: null, output: expect.stringContaining(words) });
    await expectSecrets(step === "sealed" ? OLD : NEW);
    await setAlarmSecret(service(), "changed");
    await stop();
    if (step === "sealed") expect((await rotate()).code).toBe(0);
  }, 180_000);
}

test.concurrent("a database of an older version keeps its schema while its processes are at work, and is migrated by the rotation", async () => {
  await using world = await openWorld();
  const { databaseUrl, rotate, expectSecrets } = world;
  await makeOlderDatabase(databaseUrl);
  const last = () => onServer(databaseUrl, "SELECT max(number) AS last FROM migrations");
  const atWork = new Client({ connectionString: databaseUrl, application_name: "postrider" });
  await atWork.connect();
  expect(await rotate()).toMatchObject({
    code: 1,
    output: expect.stringContaining("stop all of them first"),
  });
  expect(await last()).toEqual([{ last: OLDER }]);

  await atWork.end();
  const { code, output } = await rotate();
  expect([code, output]).toEqual([
    0,
    expect.stringMatching(/^changing the database .*: 0004_tokens_by_hash, 1 of \d/),
  ]);
  expect(await last()).not.toEqual([{ last: OLDER }]);
  await expectSecrets(NEW);
}, 180_000);

test.concurrent("a database without a service is refused, and left without a table", async () => {
  await using own = ownProcess("sqlite");
  const { url: databaseUrl, drop } = await freshDatabase();
  await tablesAfter(databaseUrl, BARE);
  const env = { ...onPostgres(databaseUrl), POSTRIDER_NEW_SECRET: NEW };
  expect(await runPostrider({ dataFolder: own.folder(), databaseUrl, command: "rotate-key", env })).toEqual({
    code: 1,
    output: "error: no service has been started on this database yet\n",
  });
  expect(await tablesAfter(databaseUrl, "SELECT 1")).toEqual([]);
  await drop();
}, 180_000);

for (const query of ["", "?application_name=billing"]) {
  test.concurrent(`a service at work keeps its key, also with "${query}" in its URL`, async () => {
    await using world = await openWorld();
    const { start, rotate, databaseUrl } = world;
    const service = await start(OLD, databaseUrl + query);
    expect(await rotate()).toMatchObject({
      code: 1,
      output: expect.stringContaining("stop all of them first"),
    });
    await setAlarmSecret(service, "changed");
    expect(await shownSecrets(service)).toEqual(made.secrets);
  }, 180_000);
}

test.concurrent("a process that was cut off while the key was changed seals nothing under the old one, and ends", async () => {
  await using world = await openWorld();
  const { databaseUrl, service, start, rotate } = world;
  const port = await keptPort();
  const proxy = await openPostgresProxy(databaseUrl, port);
  await start(OLD, proxy.url);
  await proxy.close();
  expect((await rotate()).code).toBe(0);
  const before = await sealedValues(world);
  const again = await openPostgresProxy(databaseUrl, port);
  const isRefused = setAlarmSecret(service(), "too late").then(
    () => false,
    () => true,
  );
  expect(await isRefused).toBe(true);
  expect(await service().line(/"fatal".*master key of the database has been changed/)).toContain(
    "start again",
  );
  // Or a supervisor would take it for stopped on purpose.
  expect(await service().exited).toBe(1);
  expect(await sealedValues(world)).toEqual(before);
  await again.close();
}, 180_000);

test.concurrent("unsubscribe links of mail that has left work after a rotation, until they are to be forgotten", async () => {
  await using world = await openWorld();
  const { service, start, stop, rotate } = world;
  const { account_id: accountId } = made.sandbox;
  const wish = { accountId, messageId: Bun.randomUUIDv7(), email: "ann@example.net" };
  const link = `/unsubscribe/${createMailKeys(OLD).unsubscribes.seal(wish)}`;
  expect((await rotate()).code).toBe(0);
  await start(NEW);
  expect((await fetch(service().url + link)).status).toBe(200);
  await stop();
  expect((await rotate(NEW, OLD.toUpperCase(), "--forget-links")).code).toBe(0);
  await start(OLD.toUpperCase());
  expect((await fetch(service().url + link)).status).toBe(404);
}, 180_000);
