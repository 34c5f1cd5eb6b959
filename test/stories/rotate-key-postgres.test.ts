/** The master key of a PostgreSQL database is changed, and the command may die at any moment of it. */
import { beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { createMailKeys } from "../../src/cli/email/mail-keys.ts";
import type { RotationStep } from "../../src/cli/keys/rotate-key.ts";
import { admin } from "../admin.ts";
import { keptPort } from "../fakes/kept-port.ts";
import { openPostgresProxy } from "../fakes/postgres-proxy.ts";
import { oneProcessOnPostgres } from "../one-process.ts";
import { runPostrider } from "../postrider-process.ts";

const ROTATE = join(import.meta.dir, "../../src/cli/keys/rotate-shared-key.ts");
const OLD = "the first secret, of some length";
const NEW = "the next secret, of some length";

const { folder, database, service, start: startWith, stop } = oneProcessOnPostgres();

const start = (secret: string, databaseUrl = database().url) =>
  startWith({ databaseUrl, env: { POSTRIDER_SECRET: secret } });

let secrets: unknown;

/** A database with a secret of every kind, at rest. */
beforeEach(async () => {
  await start(OLD);
  const config = { host: "127.0.0.1", port: 1, username: "acme", password: "s3cret-of-relay" };
  await admin(service(), "/connectors", { kind: "smtp", name: "relay", config });
  await admin(service(), "/domains", { account_id: service().sandbox.account_id, domain: "example.com" });
  await setAlarmSecret("the operator's own");
  secrets = await shownSecrets();
  await stop();
});

function rotate(from = OLD, to = NEW, ...args: string[]) {
  const env = { POSTRIDER_SECRET: from, POSTRIDER_NEW_SECRET: to };
  return runPostrider({
    dataFolder: folder(),
    databaseUrl: database().url,
    command: "rotate-key",
    env,
    args,
  });
}

function shownSecrets(): Promise<unknown> {
  return admin(service(), `/webhooks/secret?account_id=${service().sandbox.account_id}`);
}

function setAlarmSecret(text: string): Promise<unknown> {
  return admin(
    service(),
    "/settings/alarm_webhook_secret",
    { value: `whsec_${btoa(text.padEnd(24, "-"))}` },
    "PUT",
  );
}

async function query(sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: database().url });
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}

/** Every sealed value of the database, by where it is. */
async function sealedValues(): Promise<Map<string, string>> {
  const tables = await query(
    "SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace",
  );
  const found = new Map<string, string>();
  for (const { name } of tables) {
    for (const row of await query(`SELECT * FROM ${name}`)) {
      for (const [column, value] of Object.entries(row)) {
        if (/^v1\.[A-Za-z0-9+/=]{38,}$/.test(String(value))) found.set(`${name}.${column}`, String(value));
      }
    }
  }
  return found;
}

test("after a rotation every secret opens under the new key, and the old one is of no use", async () => {
  const before = await sealedValues();
  const places = ["connectors.secrets", "domains.dkim_keys", "settings.value", "webhook_secrets.secret"];
  expect([...before.keys()].sort()).toEqual(places);
  expect(await rotate()).toMatchObject({ code: 0, output: expect.stringContaining("sealed under the new") });
  const after = await sealedValues();
  for (const [place, value] of before) expect([place, after.get(place)]).not.toEqual([place, value]);
  expect((await rotate()).output).toContain("has already");
  expect((await rotate(OLD, "another secret, of some length")).output).toContain("neither POSTRIDER_SECRET");

  await start(NEW);
  expect(await shownSecrets()).toEqual(secrets as object);
  await stop();
  const env = { POSTRIDER_SECRET: OLD };
  const refused = await runPostrider({ dataFolder: folder(), databaseUrl: database().url, env });
  expect(refused).toMatchObject({ code: 1, output: expect.stringContaining("under another master key") });
}, 90_000);

test("the key file of the data folder is put aside if it was this database's, and is left alone if it is another's", async () => {
  const file = join(folder(), "master.key");
  writeFileSync(file, "of the service on SQLite in this folder\n");
  expect((await rotate()).code).toBe(0);
  expect((await rotate()).output).toContain("has already");
  expect(readFileSync(file, "utf8")).toBe("of the service on SQLite in this folder\n");

  writeFileSync(file, `${NEW}\n`);
  expect((await rotate(NEW, "another secret, of some length")).code).toBe(0);
  expect(existsSync(file)).toBe(false);
  expect(readFileSync(`${file}.previous`, "utf8")).toBe(`${NEW}\n`);
}, 90_000);

test("the new key is given, and long enough", async () => {
  expect((await rotate(OLD, "")).output).toContain("POSTRIDER_NEW_SECRET: required with DATABASE_URL");
  expect((await rotate(OLD, "short")).output).toContain("at least 16 characters");
});

const STEPS: readonly RotationStep[] = ["sealed", "committed"];

for (const step of STEPS) {
  test(`killed at "${step}", the database is wholly under ${step === "sealed" ? "the old" : "the new"} key`, async () => {
    const code = `
      import { randomBytes } from "node:crypto";
      import { rotateSharedKey } from ${JSON.stringify(ROTATE)};
      const { POSTRIDER_DATA: dataFolder, DATABASE_URL: databaseUrl } = process.env;
      const keys = { secret: ${JSON.stringify(OLD)}, newSecret: ${JSON.stringify(NEW)} };
      const onStep = (step) => step === ${JSON.stringify(step)} && process.kill(process.pid, "SIGKILL");
      await rotateSharedKey({ dataFolder, databaseUrl, ...keys, forgetLinks: false, randomBytes, onStep });`;
    const { url: databaseUrl } = database();
    const killed = await runPostrider({ dataFolder: folder(), databaseUrl, main: "-e", command: code });
    expect(killed).toMatchObject({ code: null });
    await start(step === "sealed" ? OLD : NEW);
    expect(await shownSecrets()).toEqual(secrets as object);
    await setAlarmSecret("changed");
    await stop();
    if (step === "sealed") expect((await rotate()).code).toBe(0);
  }, 90_000);
}

test("a service at work keeps its key", async () => {
  await start(OLD);
  expect(await rotate()).toMatchObject({
    code: 1,
    output: expect.stringContaining("stop all of them first"),
  });
  await setAlarmSecret("changed");
  expect(await shownSecrets()).toEqual(secrets as object);
});

test("a process that was cut off while the key was changed seals nothing under the old one, and ends", async () => {
  const port = await keptPort();
  const proxy = await openPostgresProxy(database().url, port);
  await start(OLD, proxy.url);
  await proxy.close();
  expect((await rotate()).code).toBe(0);
  const before = await sealedValues();
  const again = await openPostgresProxy(database().url, port);
  const isRefused = setAlarmSecret("too late").then(
    () => false,
    () => true,
  );
  expect(await isRefused).toBe(true);
  expect(await service().line(/"fatal".*master key of the database has been changed/)).toContain(
    "start again",
  );
  expect(await service().exited).toBe(0);
  expect(await sealedValues()).toEqual(before);
  await again.close();
}, 90_000);

test("unsubscribe links of mail that has left work after a rotation, until they are to be forgotten", async () => {
  const { account_id: accountId } = service().sandbox;
  const wish = { accountId, messageId: Bun.randomUUIDv7(), email: "ann@example.net" };
  const link = `/unsubscribe/${createMailKeys(OLD).unsubscribes.seal(wish)}`;
  expect((await rotate()).code).toBe(0);
  await start(NEW);
  expect((await fetch(service().url + link)).status).toBe(200);
  await stop();
  expect((await rotate(NEW, OLD.toUpperCase(), "--forget-links")).code).toBe(0);
  await start(OLD.toUpperCase());
  expect((await fetch(service().url + link)).status).toBe(404);
}, 90_000);
