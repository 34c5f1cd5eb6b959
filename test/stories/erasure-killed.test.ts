/** The machine dies in the middle of an erasure. */
import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createSystemClock } from "../../src/cli/system-clock.ts";
import { createWorld } from "../../src/store/contract/world.contract.ts";
import { openPostgres } from "../../src/store/postgres/open-postgres.ts";
import { openSqlite } from "../../src/store/sqlite/open-sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { createVault } from "../../src/store/vault.ts";
import { databaseOf, onBothStores } from "../both-stores.ts";
import { makeDataFolder, runPostrider } from "../postrider-process.ts";

const FROM_STORE = (path: string) => JSON.stringify(join(import.meta.dir, "../../src/store", path));
const MASTER_KEY = "a master key of some length";
const THEIRS = "+919812345678";
const OTHERS = "+919800000001";
const EACH = 60;

/** A database, and code that opens it and calls `beforeCommit` before each of its commits. */
interface Place {
  open(): Promise<Store>;
  readonly code: string;
}

const vault = createVault({ masterKey: MASTER_KEY, randomBytes });

function inFile(path: string): Place {
  return {
    open: () => openSqlite({ path, vault }),
    code: `
      import { openSqlite } from ${FROM_STORE("sqlite/open-sqlite.ts")};
      const store = await openSqlite({ path: ${JSON.stringify(path)}, vault, faults: { beforeCommit } });`,
  };
}

function onServer(url: string): Place {
  return {
    open: () => openPostgres({ url, vault, clock: createSystemClock() }),
    code: `
      import { Client } from "pg";
      import { openPostgres } from ${FROM_STORE("postgres/open-postgres.ts")};
      import { createSystemClock } from ${FROM_STORE("../cli/system-clock.ts")};
      const { query } = Client.prototype;
      Client.prototype.query = function (...args) {
        if (args[0] === "COMMIT") beforeCommit();
        return query.apply(this, args);
      };
      const store = await openPostgres({ url: ${JSON.stringify(url)}, vault, clock: createSystemClock() });`,
  };
}

/** Messages of two numbers, an opt-out of each, and the erasure of one asked for. */
async function fill({ open }: Place): Promise<{ accountId: string; now: number }> {
  const store = await open();
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
function eraseUntilKilled(place: Place, nth: number, now: number) {
  const code = `
    import { randomBytes } from "node:crypto";
    import { createVault } from ${FROM_STORE("vault.ts")};
    const vault = createVault({ masterKey: ${JSON.stringify(MASTER_KEY)}, randomBytes });
    let commits = -Infinity;
    const beforeCommit = () => { if (++commits === ${nth}) process.kill(process.pid, "SIGKILL"); };
    ${place.code}
    commits = 0;
    while ((await store.erasures.advance(${now}, 100)) > 0);`;
  return runPostrider({ main: "-e", command: code });
}

onBothStores(() => {
  for (const nth of [1, 3, 8, 14]) {
    test(`an erasure that is killed at step ${nth} goes on after the restart, counts each message once and forgets nothing`, async () => {
      const folder = makeDataFolder();
      const url = await databaseOf(folder.path);
      const place = url === undefined ? inFile(join(folder.path, "life.db")) : onServer(url);
      const { accountId, now } = await fill(place);
      expect(await eraseUntilKilled(place, nth, now)).toMatchObject({ code: null });
      const store = await place.open();
      const [halfway] = await store.erasures.list({ limit: 1 });
      expect(halfway?.completedAt).toBeUndefined();
      while ((await store.erasures.advance(now + 1, 100)) > 0);
      const [record] = await store.erasures.list({ limit: 1 });
      expect(record).toMatchObject({ erased: EACH, completedAt: now + 1 });
      const left = await store.messages.list({ accountId, channel: "sms", limit: 200, createdFrom: 0 });
      expect(left.messages.map(({ recipient }) => recipient)).toEqual(Array(EACH).fill(OTHERS));
      expect(await store.suppressions.findOptedOut({ accountId, to: [THEIRS, OTHERS] })).toEqual([
        THEIRS,
        OTHERS,
      ]);
      await store.close();
      folder.remove();
    });
  }
});
