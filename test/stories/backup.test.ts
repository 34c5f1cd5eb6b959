/** The machine is gone, and what is left is a backup that was made while it was at work. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { admin, reached, send } from "../admin.ts";
import {
  makeDataFolder,
  type PostriderProcess,
  runPostrider,
  startCommand,
  startPostrider,
} from "../postrider-process.ts";

let folder: ReturnType<typeof makeDataFolder>;
let service: PostriderProcess;
let data: string;

beforeEach(async () => {
  folder = makeDataFolder();
  data = join(folder.path, "data");
  service = await startPostrider({ dataFolder: data });
});

afterEach(async () => {
  service.kill("SIGKILL");
  await service.exited;
  folder.remove();
});

const backup = (...args: string[]) =>
  runPostrider({ dataFolder: data, command: "backup", args: ["--to", join(folder.path, "copy"), ...args] });
const restore = (...args: string[]) =>
  runPostrider({
    dataFolder: data,
    command: "restore",
    args: ["--from", join(folder.path, "copy"), ...args],
  });
const elsewhere = () => join(folder.path, "elsewhere");

async function die(): Promise<void> {
  service.kill("SIGKILL");
  await service.exited;
}

test("a backup made under load holds every message answered 202 before it, wholly, and they are delivered from it", async () => {
  await using load = startLoad();
  await load.accepted(100);
  const before = load.answers.slice();
  const made = await backup("--with-key");
  expect(made).toMatchObject({ code: 0, output: expect.stringContaining("backup written to") });
  await load.accepted(load.answers.length + 20);
  await load.stop();
  await die();
  rmSync(data, { recursive: true });

  const restored = await restore("--data", elsewhere());
  expect(restored).toMatchObject({ code: 0, output: expect.stringMatching(/messages +\d+/) });
  service = await startPostrider({ dataFolder: elsewhere() });
  for (const ids of before) {
    for (const id of ids)
      await reached(service, { apiKey: service.sandbox.api_key, path: pathOf(id) }, "delivered");
  }
  for (const ids of load.answers.slice(before.length)) {
    const found = await Promise.all(ids.map((id) => lookUp(id)));
    expect(new Set(found.map((status) => status === 200)).size).toBe(1);
  }
}, 120_000);

test("what is backed up is for its owner only, whole or not there, and says loudly that the key is apart", async () => {
  const { output } = await backup();
  expect(output).toContain("the master key is NOT in this backup");
  const copy = join(folder.path, "copy");
  expect(readdirSync(copy).sort()).toEqual(["backup.json", "postrider.db"]);
  for (const name of readdirSync(copy)) expect(statSync(join(copy, name)).mode & 0o777).toBe(0o600);
  expect(statSync(copy).mode & 0o077).toBe(0);
  expect(readFileSync(join(copy, "postrider.db")).includes(service.sandbox.admin_token)).toBe(false);
  expect((await backup()).code).toBe(0);
  expect(readdirSync(copy).filter((name) => /^postrider-\d{8}T\d{6}Z$/.test(name))).toHaveLength(1);
});

test("without its master key a backup is not restored; with it its secrets open again", async () => {
  const [first] = (await admin<{ secrets: { secret: string }[] }>(service, secretsPath())).secrets;
  expect((await backup()).code).toBe(0);
  const refused = await restore("--data", elsewhere());
  expect(refused).toMatchObject({
    code: 1,
    output: expect.stringContaining("holds no master key: put the key file"),
  });
  expect(existsSync(elsewhere())).toBe(false);
  const wrong = await runPostrider({
    command: "restore",
    args: ["--from", join(folder.path, "copy"), "--data", elsewhere()],
    env: { POSTRIDER_SECRET: "another key of some length" },
  });
  expect(wrong).toMatchObject({
    code: 1,
    output: expect.stringContaining("POSTRIDER_SECRET is not the master key of this backup"),
  });
  expect(existsSync(elsewhere())).toBe(false);

  mkdirSync(elsewhere());
  writeFileSync(join(elsewhere(), "master.key"), "another key of some length\n");
  expect((await restore("--data", elsewhere())).output).toContain("is not the master key of this backup");
  expect(readdirSync(elsewhere())).toEqual(["master.key"]);
  copyFileSync(join(data, "master.key"), join(elsewhere(), "master.key"));
  copyFileSync(join(data, "sandbox.json"), join(elsewhere(), "sandbox.json"));
  expect((await restore("--data", elsewhere())).code).toBe(0);
  await die();
  service = await startPostrider({ dataFolder: elsewhere() });
  expect((await admin<{ secrets: { secret: string }[] }>(service, secretsPath())).secrets).toMatchObject([
    first!,
  ]);
});

test("a backup of a newer version's database is refused before a service finds out, and nothing is left", async () => {
  await die();
  const database = new Database(join(data, "postrider.db"));
  database.run("INSERT INTO migrations (number, name, checksum) VALUES (999, '0999_future', 'x')");
  database.close();
  expect((await backup("--with-key")).code).toBe(0);
  const refused = await restore("--data", elsewhere());
  expect(refused).toMatchObject({ code: 1, output: expect.stringContaining("made by a newer program") });
  expect(existsSync(elsewhere())).toBe(false);
});

test("a restore keeps services out from before it reads the backup, and a signal then takes nothing but that away", async () => {
  expect((await backup("--with-key")).code).toBe(0);
  const file = join(folder.path, "copy", "postrider.db");
  const kept = join(folder.path, "kept.db");
  renameSync(file, kept);
  const marks = () => (existsSync(elsewhere()) ? readdirSync(elsewhere()) : []);
  const ofLock = (name: string) => name.startsWith("postrider.lock");
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    // Who opens a named pipe to read waits for one that writes.
    expect(Bun.spawnSync(["mkfifo", file]).exitCode).toBe(0);
    const args = ["--from", join(folder.path, "copy"), "--data", elsewhere()];
    const restoring = startCommand({ dataFolder: data, command: "restore", args });
    const writing = await open(file, "w");
    const isKept = marks().filter((name) => !ofLock(name));
    restoring.kill(signal);
    await restoring.exited;
    await writing.close();
    rmSync(file);
    expect([signal, isKept]).toEqual([signal, ["postrider.db.restoring"]]);
    const left =
      signal === "SIGKILL" ? ["postrider.db.restoring", "postrider.lock", "postrider.lock-journal"] : [];
    expect([signal, marks().toSorted()]).toEqual([signal, left]);
  }
  expect(await runPostrider({ dataFolder: elsewhere() })).toMatchObject({
    code: 1,
    output: expect.stringContaining("is under way or was cut off: wait for it, run it again"),
  });
  renameSync(kept, file);
  expect(await restore("--data", elsewhere())).toMatchObject({ code: 0 });
});

test("a restore overwrites nothing, and a damaged backup is refused", async () => {
  expect((await backup("--with-key")).code).toBe(0);
  // Nobody who restores wants another folder for it.
  expect((await restore()).output).toMatch(/another process is using it; stop it\n/);
  await die();
  const kept = readFileSync(join(data, "postrider.db"));
  const refused = await restore();
  expect(refused).toMatchObject({ code: 1, output: expect.stringContaining("nothing is overwritten") });
  expect(readFileSync(join(data, "postrider.db")).equals(kept)).toBe(true);

  const manifest = join(folder.path, "copy", "backup.json");
  const said = readFileSync(manifest, "utf8");
  writeFileSync(manifest, said.replace(/"accounts": 1\b/, '"accounts": 2'));
  expect((await restore("--data", elsewhere())).output).toContain("does not hold what its backup.json says");
  writeFileSync(manifest, said);
  const copy = join(folder.path, "copy", "postrider.db");
  const octets = readFileSync(copy);
  octets[octets.length - 100]! ^= 1;
  writeFileSync(copy, octets);
  const deep = join(elsewhere(), "in", "another");
  mkdirSync(elsewhere());
  expect((await restore("--data", deep)).output).toContain("is damaged");
  expect(readdirSync(elsewhere())).toEqual([]);
  const second = await backup();
  expect((await restore("--data", elsewhere())).output).toContain("is damaged");
  rmSync(join(folder.path, "copy", "backup.json"));
  const inside = /backup written to (\S+)/.exec(second.output)?.[1];
  const none = await restore("--data", elsewhere());
  expect(none.output).toContain("holds no backup");
  expect(none.output).toContain(`the newest backup inside it is ${inside}`);
  expect(existsSync(join(elsewhere(), "postrider.db"))).toBe(false);
});

test("a restore overwrites no sandbox.json, and no log whose database is gone: what is in that was committed", async () => {
  expect((await backup("--with-key")).code).toBe(0);
  await die();
  mkdirSync(elsewhere());
  const wal = join(elsewhere(), "postrider.db-wal");
  writeFileSync(wal, "a log");
  const refused = await restore("--data", elsewhere());
  expect(refused).toMatchObject({ code: 1, output: expect.stringContaining(`${wal} is there already`) });
  rmSync(wal);
  const sandbox = join(elsewhere(), "sandbox.json");
  writeFileSync(sandbox, "the token of somebody's own");
  expect((await restore("--data", elsewhere())).code).toBe(0);
  expect(readFileSync(sandbox, "utf8")).toBe("the token of somebody's own");
});

test("whoever restores the first of a series, in which the others lie, is told of the newest", async () => {
  await backup();
  const newest = /backup written to (\S+)/.exec((await backup("--with-key")).output)?.[1];
  await die();
  mkdirSync(elsewhere());
  copyFileSync(join(data, "master.key"), join(elsewhere(), "master.key"));
  const first = await restore("--data", elsewhere());
  expect(first.output).toContain(`WARNING: this is not the newest backup: ${newest} was made `);
  const last = ["--from", newest ?? "", "--data", join(folder.path, "third")];
  const right = await runPostrider({ dataFolder: data, command: "restore", args: last });
  expect(right).toMatchObject({ code: 0, output: expect.not.stringContaining("not the newest") });
});

test("a service that is stopped is backed up alike, and a folder without a database is not", async () => {
  service.kill("SIGTERM");
  await service.exited;
  expect((await backup()).code).toBe(0);
  const database = new Database(join(folder.path, "copy", "postrider.db"), { readonly: true });
  expect(database.query("SELECT count(*) AS rows FROM accounts").get()).toEqual({ rows: 1 });
  database.close();
  const empty = await backup("--data", elsewhere());
  expect(empty).toMatchObject({
    code: 1,
    output: expect.stringMatching(/there is no .*postrider.db: name the data folder/),
  });
});

test("a backup that cannot be written leaves nothing behind", async () => {
  const full = join(folder.path, "full");
  mkdirSync(full);
  const before = "ulimit -f 64";
  const args = ["--to", join(full, "copy")];
  const failed = await runPostrider({ dataFolder: data, command: "backup", args, before });
  const output = expect.stringContaining(`postrider.db cannot be copied into ${full}: `);
  expect(failed).toMatchObject({ code: 1, output });
  expect(readdirSync(full)).toEqual([]);
});

const pathOf = (id: string) => `/v1/sms/messages/${id}`;
const secretsPath = () => `/webhooks/secret?account_id=${service.sandbox.account_id}`;

async function lookUp(id: string): Promise<number> {
  const headers = { Authorization: `Bearer ${service.sandbox.api_key}` };
  return (await fetch(service.url + pathOf(id), { headers })).status;
}

/** Singles and batches, until it is stopped. */
function startLoad() {
  const answers: string[][] = [];
  const waiting: { at: number; resolve: () => void }[] = [];
  let isOver = false;
  const client = async (index: number) => {
    for (let n = 0; !isOver; n++) {
      const to = `+91${9_000_000_100 + index * 1_000 + n}`;
      const body = {
        to: n % 3 === 0 ? [to, "+919876543210", "+919876543211"] : to,
        dlt_template_id: "1107160000000000001",
      };
      const answer = await send(service, { apiKey: service.sandbox.api_key, path: "/v1/sms/messages", body });
      expect(answer.status).toBe(202);
      const { messages, message_id: id } = answer.body as {
        messages?: { message_id: string }[];
        message_id: string;
      };
      answers.push(messages?.map((each) => each.message_id) ?? [id]);
      for (const each of waiting) if (answers.length >= each.at) each.resolve();
    }
  };
  const ended = Promise.all([0, 1, 2, 3].map(client));
  const stop = async () => {
    isOver = true;
    await ended;
  };
  return {
    answers,
    accepted: (at: number) =>
      Promise.race([new Promise<void>((resolve) => waiting.push({ at, resolve })), ended]),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
