/** The machine dies in the middle of an erasure. */
import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createWorld } from "../../src/store/contract/world.contract.ts";
import { openSqlite } from "../../src/store/sqlite/open-sqlite.ts";
import { createVault } from "../../src/store/vault.ts";
import { makeDataFolder, runPostrider } from "../postrider-process.ts";

const SQLITE = join(import.meta.dir, "../../src/store/sqlite/open-sqlite.ts");
const VAULT = join(import.meta.dir, "../../src/store/vault.ts");
const MASTER_KEY = "a master key of some length";
const THEIRS = "+919812345678";
const OTHERS = "+919800000001";
const EACH = 60;

const open = (path: string) =>
  openSqlite({ path, vault: createVault({ masterKey: MASTER_KEY, randomBytes }) });

/** Messages of two numbers, an opt-out of each, and the erasure of one asked for. */
async function fill(path: string): Promise<{ accountId: string; now: number }> {
  const store = await open(path);
  const { account, id, clock, sms } = await createWorld(store);
  await sms({ to: Array.from({ length: EACH * 2 }, (_, index) => (index % 2 ? THEIRS : OTHERS)) });
  for (const recipient of [THEIRS, OTHERS]) {
    const optOut = { id: id(), accountId: account.id, recipient, reason: "r", createdAt: clock.now };
    await store.records.create("optOuts", optOut);
  }
  const record = { id: id(), recipient: THEIRS, salt: "s", digest: "d", createdAt: clock.now };
  await store.erasures.create(record);
  await store.close();
  return { accountId: account.id, now: clock.now };
}

/** A process that erases, and is killed before its `nth` commit is on disk. */
function eraseUntilKilled(path: string, nth: number, now: number) {
  const code = `
    import { randomBytes } from "node:crypto";
    import { openSqlite } from ${JSON.stringify(SQLITE)};
    import { createVault } from ${JSON.stringify(VAULT)};
    const vault = createVault({ masterKey: ${JSON.stringify(MASTER_KEY)}, randomBytes });
    let commits = -Infinity;
    const beforeCommit = () => { if (++commits === ${nth}) process.kill(process.pid, "SIGKILL"); };
    const store = await openSqlite({ path: ${JSON.stringify(path)}, vault, faults: { beforeCommit } });
    commits = 0;
    while ((await store.upkeep.erase(${now}, 100)) > 0);`;
  return runPostrider({ dataFolder: join(path, ".."), main: "-e", command: code });
}

for (const nth of [1, 3, 8, 14]) {
  test(`killed at step ${nth}, it goes on after the restart, counts each message once and forgets nothing`, async () => {
    const folder = makeDataFolder();
    const path = join(folder.path, "life.db");
    const { accountId, now } = await fill(path);
    expect(await eraseUntilKilled(path, nth, now)).toMatchObject({ code: null });
    const store = await open(path);
    const [halfway] = await store.erasures.list({ limit: 1 });
    expect(halfway?.completedAt).toBeUndefined();
    while ((await store.upkeep.erase(now + 1, 100)) > 0);
    const [record] = await store.erasures.list({ limit: 1 });
    expect(record).toMatchObject({ erased: EACH, completedAt: now + 1 });
    const left = await store.messages.list({ accountId, channel: "sms", limit: 200, createdFrom: 0 });
    expect(left.messages.map(({ recipient }) => recipient)).toEqual(Array(EACH).fill(OTHERS));
    expect(await store.inbound.optedOut({ accountId, to: [THEIRS, OTHERS] })).toEqual([THEIRS, OTHERS]);
    await store.close();
    folder.remove();
  });
}
