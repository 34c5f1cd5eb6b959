/** The master key is changed, and the machine may die at any moment of it. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createMailKeys } from "../../src/cli/email/mail-keys.ts";
import { type RotationStep, rotateKey } from "../../src/cli/keys/rotate-key.ts";
import { admin } from "../admin.ts";
import { ownProcess } from "../one-process.ts";
import {
  makeDataFolder,
  type PostriderProcess,
  runPostrider,
  type Sandbox,
  startPostrider,
} from "../postrider-process.ts";

const ROTATE = join(import.meta.dir, "../../src/cli/keys/rotate-key.ts");
const NEW_SECRET = "the next secret, of some length";

/** A database with a secret of every kind, at rest. Each test has a copy of its own. */
let made: { path: string; sandbox: Sandbox; secrets: object; remove: () => void };

beforeAll(async () => {
  const folder = makeDataFolder();
  const service = await startPostrider({ dataFolder: folder.path });
  const config = { host: "127.0.0.1", port: 1, username: "acme", password: "s3cret-of-relay" };
  await admin(service, "/connectors", { kind: "smtp", name: "relay", config });
  await admin(service, "/domains", { account_id: service.sandbox.account_id, domain: "example.com" });
  const value = `whsec_${btoa("a secret of the operator's own")}`;
  await admin(service, "/settings/alarm_webhook_secret", { value }, "PUT");
  made = { ...folder, sandbox: service.sandbox, secrets: await shownSecrets(service) };
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
}, 120_000);

afterAll(() => made.remove());

function shownSecrets(service: PostriderProcess): Promise<object> {
  return admin(service, `/webhooks/secret?account_id=${service.sandbox.account_id}`);
}

type World = ReturnType<typeof openWorld>;

/** A copy of that database, and a service on it, one at a time. */
function openWorld() {
  const own = ownProcess();
  cpSync(made.path, own.folder(), { recursive: true });
  const inFolder = (name: string) => join(own.folder(), name);
  const start = (env: Record<string, string> = {}) => own.start({ env });
  return {
    ...own,
    start,
    inFolder,
    keyFile: (name = "master.key") => readFileSync(inFolder(name), "utf8").trim(),
    /** Starts a service, which shows the secrets that were made. */
    async expectSecrets(env: Record<string, string> = {}): Promise<void> {
      expect(await shownSecrets(await start(env))).toEqual(made.secrets);
    },
    rotate: (env: Record<string, string> = {}, ...args: string[]) =>
      runPostrider({ dataFolder: own.folder(), command: "rotate-key", env, args }),
  };
}

/** Every sealed value of the database, by where it is. */
function sealedValues({ inFolder }: World): Map<string, string> {
  const database = new Database(inFolder("postrider.db"));
  const names = database.query("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as {
    name: string;
  }[];
  const found = names.flatMap(({ name }) =>
    (database.query(`SELECT * FROM ${name}`).all() as Record<string, unknown>[]).flatMap((row) =>
      Object.entries(row).flatMap(([column, value]) =>
        /^v1\.[A-Za-z0-9+/=]{38,}$/.test(String(value))
          ? [[`${name}.${column}`, String(value)] as const]
          : [],
      ),
    ),
  );
  database.close();
  return new Map(found);
}

test.concurrent("after a rotation every secret opens under the new key, and the old one is of no use", async () => {
  await using world = openWorld();
  const { inFolder, keyFile, rotate, expectSecrets, stop } = world;
  const before = sealedValues(world);
  const old = keyFile();
  const places = ["connectors.secrets", "domains.dkim_keys", "settings.value", "webhook_secrets.secret"];
  expect([...before.keys()].sort()).toEqual(places);
  expect(await rotate()).toMatchObject({
    code: 0,
    output: expect.stringContaining("encrypted with the new"),
  });
  const after = sealedValues(world);
  for (const [place, value] of before) expect([place, after.get(place)]).not.toEqual([place, value]);
  const octets = readFileSync(inFolder("postrider.db"), "latin1");
  for (const value of before.values()) expect(octets.includes(value)).toBe(false);
  expect([keyFile("master.key.previous"), keyFile() === old]).toEqual([old, false]);

  await expectSecrets();
  await stop();
  const refused = await runPostrider({ dataFolder: world.folder(), env: { POSTRIDER_SECRET: old } });
  expect(refused).toMatchObject({ code: 1, output: expect.stringContaining("under another master key") });
}, 180_000);

test("every column that the schema calls sealed is one that a rotation knows", () => {
  const schema = readFileSync(join(import.meta.dir, "../../src/store/sqlite/schema.sql"), "utf8");
  const sealed = [...schema.matchAll(/^ {2}(\w+) .*-- sealed$/gm)].map(([, column]) => column);
  expect(sealed.sort()).toEqual(["dkim_keys", "secret", "secrets"]);
});

async function rotateUntil({ folder }: World, step: RotationStep, newSecret?: string): Promise<void> {
  const code = `
    import { randomBytes } from "node:crypto";
    import { rotateKey } from ${JSON.stringify(ROTATE)};
    const onStep = (step) => step === ${JSON.stringify(step)} && process.kill(process.pid, "SIGKILL");
    const { POSTRIDER_DATA: dataFolder, NEW: newSecret } = process.env;
    await rotateKey({ dataFolder, newSecret, forgetLinks: false, randomBytes, onCutOff() {}, onStep });`;
  const env = newSecret === undefined ? {} : { NEW: newSecret };
  const killed = await runPostrider({ dataFolder: folder(), main: "-e", command: code, env });
  expect(killed).toMatchObject({ code: null });
}

const STEPS: readonly RotationStep[] = ["new key written", "sealed", "committed", "old key put aside"];

for (const step of STEPS) {
  test.concurrent(`killed at "${step}", the next start finds the key that fits, and another rotation goes through`, async () => {
    await using world = openWorld();
    const { inFolder, rotate, expectSecrets, stop } = world;
    const before = sealedValues(world);
    await rotateUntil(world, step);
    expect(existsSync(inFolder("master.key.next"))).toBe(true);
    await expectSecrets();
    expect(existsSync(inFolder("master.key.next"))).toBe(false);
    await stop();
    const isRotated = step === "committed" || step === "old key put aside";
    expect(sealedValues(world).get("connectors.secrets") !== before.get("connectors.secrets")).toBe(
      isRotated,
    );
    expect((await rotate()).code).toBe(0);
    await expectSecrets();
  }, 180_000);
}

for (const step of ["committed", "old key put aside"] as const) {
  test.concurrent(`killed at "${step}", the command run again completes that rotation, and keeps the key that older backups need`, async () => {
    await using world = openWorld();
    const { keyFile, rotate, expectSecrets } = world;
    const old = keyFile();
    await rotateUntil(world, step);
    const next = keyFile("master.key.next");
    const again = await rotate();
    expect(again).toMatchObject({ code: 0, output: expect.stringContaining("that was cut off is complete") });
    expect([keyFile(), keyFile("master.key.previous")]).toEqual([next, old]);
    await expectSecrets();
  }, 180_000);

  test.concurrent(`killed at "${step}" on the way to a key that lies in no file, the command run again says that it is done, and does what is left`, async () => {
    await using world = openWorld();
    const { inFolder, keyFile, rotate, expectSecrets } = world;
    const old = keyFile();
    await rotateUntil(world, step, NEW_SECRET);
    expect(keyFile()).toBe(old);
    const again = await rotate({ POSTRIDER_NEW_SECRET: NEW_SECRET });
    expect(again).toMatchObject({
      code: 1,
      output: expect.stringContaining("is the key the database has already"),
    });
    expect([existsSync(inFolder("master.key")), keyFile("master.key.previous")]).toEqual([false, old]);
    await expectSecrets({ POSTRIDER_SECRET: NEW_SECRET });
  }, 180_000);
}

test.concurrent("the key moves from the file to the environment, from there to another, and back into a file", async () => {
  await using world = openWorld();
  const { inFolder, rotate, expectSecrets, stop } = world;
  expect((await rotate({ POSTRIDER_NEW_SECRET: "short" })).output).toContain("at least 16 characters");
  expect((await rotate({ POSTRIDER_NEW_SECRET: NEW_SECRET })).code).toBe(0);
  expect(existsSync(inFolder("master.key"))).toBe(false);
  const env = { POSTRIDER_SECRET: NEW_SECRET };
  expect((await rotate({ ...env, POSTRIDER_NEW_SECRET: NEW_SECRET })).output).toContain("has already");
  const other = "another secret, of some length";
  expect((await rotate({ ...env, POSTRIDER_NEW_SECRET: other })).code).toBe(0);
  expect((await rotate(env)).output).toContain("neither POSTRIDER_SECRET nor a key file");
  await expectSecrets({ POSTRIDER_SECRET: other });
  await stop();
  expect((await rotate({ POSTRIDER_SECRET: other })).output).toContain("unset POSTRIDER_SECRET");
  await expectSecrets();
}, 180_000);

test.concurrent("a rotation that was cut off is completed, and the key then moves to the environment, if it is to", async () => {
  await using world = openWorld();
  const { inFolder, keyFile, rotate, expectSecrets } = world;
  await rotateUntil(world, "committed");
  const next = keyFile("master.key.next");
  expect((await rotate({ POSTRIDER_NEW_SECRET: NEW_SECRET })).code).toBe(0);
  expect([existsSync(inFolder("master.key")), keyFile("master.key.previous")]).toEqual([false, next]);
  await expectSecrets({ POSTRIDER_SECRET: NEW_SECRET });
}, 180_000);

test.concurrent("a rotation to the key that the file holds is refused, and leaves the file", async () => {
  await using world = openWorld();
  const { inFolder, keyFile, rotate } = world;
  const key = keyFile();
  expect((await rotate({ POSTRIDER_NEW_SECRET: key })).output).toContain("has already");
  expect([keyFile(), existsSync(inFolder("master.key.previous"))]).toEqual([key, false]);
}, 180_000);

test.concurrent("a service at work keeps its key", async () => {
  await using world = openWorld();
  const { keyFile, start, rotate } = world;
  const key = keyFile();
  await start();
  expect(await rotate()).toMatchObject({
    code: 1,
    output: expect.stringContaining("another process is using it"),
  });
  expect(keyFile()).toBe(key);
}, 180_000);

test.concurrent("a database of a newer version is refused with what to do, and nothing is changed", async () => {
  await using world = openWorld();
  const { folder, inFolder, rotate } = world;
  const database = new Database(inFolder("postrider.db"));
  database.exec("INSERT INTO migrations VALUES (999, '0999_future', 'x')");
  database.close();
  const before = sealedValues(world);
  const words =
    /^error: the database is of a newer version \(0999_future\), and this one cannot read it: [^\n]*\n$/;
  expect(await rotate()).toEqual({ code: 1, output: expect.stringMatching(words) });
  expect(sealedValues(world)).toEqual(before);
  expect(readdirSync(folder()).filter((name) => name.startsWith("master.key"))).toEqual(["master.key"]);
}, 120_000);

test.concurrent("unsubscribe links of mail that has left work after a rotation, until they are to be forgotten", async () => {
  await using world = openWorld();
  const { keyFile, start, stop, rotate } = world;
  const { account_id: accountId } = made.sandbox;
  const wish = { accountId, messageId: Bun.randomUUIDv7(), email: "ann@example.net" };
  const link = `/unsubscribe/${createMailKeys(keyFile()).unsubscribes.seal(wish)}`;
  for (const _ of [1, 2]) expect((await rotate()).code).toBe(0);
  let service = await start();
  expect((await fetch(service.url + link)).status).toBe(200);
  await stop();
  expect((await rotate({}, "--forget-links")).code).toBe(0);
  service = await start();
  expect((await fetch(service.url + link)).status).toBe(404);
}, 180_000);

test.concurrent("links are forgotten too where a rotation that was cut off is to be completed first, and a signal leaves the next key from the commit on, not before", async () => {
  await using world = openWorld();
  const { folder, inFolder, keyFile, start, rotate } = world;
  const wish = {
    accountId: made.sandbox.account_id,
    messageId: Bun.randomUUIDv7(),
    email: "ann@example.net",
  };
  const link = `/unsubscribe/${createMailKeys(keyFile()).unsubscribes.seal(wish)}`;
  const left: { words: string; files: boolean[] }[] = [];
  let undo = () => {};
  await rotateKey({
    dataFolder: folder(),
    forgetLinks: false,
    randomBytes,
    onCutOff: (words, takeBack = () => {}) => {
      left.push({ words, files: [] });
      undo = takeBack;
    },
    onStep(step) {
      if (step !== "new key written" && step !== "sealed") return;
      const isThere = () => existsSync(inFolder("master.key.next"));
      const next = readFileSync(inFolder("master.key.next"));
      left.at(-1)?.files.push(isThere());
      undo();
      left.at(-1)?.files.push(isThere());
      writeFileSync(inFolder("master.key.next"), next);
    },
  });
  expect(left).toEqual([
    { words: "nothing was changed", files: [true, false] },
    { words: "the key is the old one or the new one: the next start finds out", files: [true, true] },
    { words: "the rotation is complete", files: [] },
  ]);
  await rotateUntil(world, "committed");
  expect((await rotate({}, "--forget-links")).code).toBe(0);
  const service = await start();
  expect((await fetch(service.url + link)).status).toBe(404);
}, 180_000);
