/** Wishes of the erased hold for as long as the database does, whatever happens to its key and its file. */
import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createWorld } from "../../contract/world.contract.ts";
import { createVault, type Vault } from "../../vault.ts";
import { copyDatabase } from "../backup.ts";
import { openSqlite } from "../open-sqlite.ts";
import { rotateMasterKey } from "../records/rotate-master-key.ts";
import { inFolder, VAULT } from "../sqlite-world.contract.ts";

const NUMBER = "+919812345678";
const NEXT = createVault({ masterKey: "another master key of some length", randomBytes });

/** Whether commits fail. */
const disk = { isFull: false };

function beforeCommit(): void {
  if (disk.isFull) throw new Error("the disk is full");
}

/** A database with the opt-out of somebody who was erased; the account's id. `isFirstLost`: each step commits only when it is tried again. */
async function makeDatabase(path: string, { isFirstLost = false } = {}): Promise<string> {
  const store = await openSqlite({ path, vault: VAULT, faults: { beforeCommit } });
  const { account, id, clock } = await createWorld(store);
  const optOut = { id: id(), accountId: account.id, recipient: NUMBER, reason: "r", createdAt: clock.now };
  await store.records.create("optOuts", optOut);
  const record = { id: id(), recipient: NUMBER, salt: "s", digest: "d", createdAt: clock.now };
  await store.erasures.create(record);
  const advance = async () => {
    disk.isFull = isFirstLost;
    if (isFirstLost) await store.erasures.advance(clock.now, 100).catch(() => {});
    disk.isFull = false;
    return store.erasures.advance(clock.now, 100);
  };
  while ((await advance()) > 0);
  await store.close();
  return account.id;
}

async function optedOut(path: string, vault: Vault, accountId: string): Promise<readonly string[]> {
  const store = await openSqlite({ path, vault });
  try {
    return await store.suppressions.findOptedOut({ accountId, to: [NUMBER, "+919800000000"] });
  } finally {
    await store.close();
  }
}

test("after a restart", () =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    const accountId = await makeDatabase(path);
    expect(await optedOut(path, VAULT, accountId)).toEqual([NUMBER]);
  }));

test("after the disk was full while they were erased", () =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    const accountId = await makeDatabase(path, { isFirstLost: true });
    expect(await optedOut(path, VAULT, accountId)).toEqual([NUMBER]);
  }));

test("after the master key was rotated, also with links forgotten", () =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    const accountId = await makeDatabase(path);
    await rotateMasterKey({ path, from: VAULT, to: NEXT });
    expect(await optedOut(path, NEXT, accountId)).toEqual([NUMBER]);
  }));

test("in a backup", () =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    const accountId = await makeDatabase(path);
    copyDatabase(path, join(folder, "backup.db"));
    expect(await optedOut(join(folder, "backup.db"), VAULT, accountId)).toEqual([NUMBER]);
  }));

test("two databases do not write the same digest for one number", () =>
  inFolder(async (folder) => {
    const digests = await Promise.all(
      ["a.db", "b.db"].map(async (name) => {
        await makeDatabase(join(folder, name));
        return /erased:[0-9a-f]{64}/.exec(readFileSync(join(folder, name), "latin1"))?.[0];
      }),
    );
    expect(digests[0]).toBeDefined();
    expect(digests[0]).not.toBe(digests[1]);
  }));
