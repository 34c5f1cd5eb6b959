import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createDatabase } from "../database/database.ts";
import { openDriver } from "../database/driver.ts";
import { migrate } from "../migrate.ts";
import { inFolder } from "../sqlite-world.contract.ts";
import { createIdempotencyKeys } from "./idempotency-keys.ts";

const GENERATION = 64;

/** Makes a database whose index of names has some pages, of which the first is damaged. */
function makeDamaged(path: string): void {
  const driver = openDriver(path);
  migrate(driver);
  driver.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
    INSERT INTO key_names (name, number) SELECT randomblob(16), 0 FROM n`);
  const sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'key_names'";
  const root = driver.prepare<{ rootpage: number }>(sql).get()?.rootpage ?? 0;
  driver.close();
  const file = readFileSync(path);
  const size = file.readUInt16BE(16);
  const page = file.subarray((root - 1) * size, root * size);
  // SQLite's file format, §1.6: a page that points to others, with the place of its first cell.
  const first = page.readUInt32BE(page.readUInt16BE(12));
  file.fill(0xff, (first - 1) * size, first * size);
  writeFileSync(path, file);
}

test("a damaged page of the index of keys' names fails a call with a key now and then, and not every one that comes after", () =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    makeDamaged(path);
    const driver = openDriver(path);
    driver.exec("PRAGMA synchronous = OFF");
    const db = createDatabase({ driver, schedule: setImmediate });
    const keys = createIdempotencyKeys(db, GENERATION);
    const key = (n: number) => ({ scope: "s", key: `key ${n}`, now: 1 });
    const failed: number[] = [];
    const take = async (n: number) => {
      const taking = db.write(() =>
        keys.take({ ...key(n), bodyDigest: "d", expiresAt: 9 }, { status: 202, body: `answer ${n}` }),
      );
      await taking.catch(() => failed.push(n));
    };
    for (let n = 0; n < 8 * GENERATION; n++) await take(n);
    // A name that belongs on that page is refused for good, since it cannot be told whether it is new.
    const onPage = failed.filter((n) => canTell(() => keys.find(key(n))) === false);
    expect(failed.length - onPage.length).toBeLessThanOrEqual(8);
    expect(onPage.length).toBeLessThan(GENERATION * 4);
    const found = Array.from({ length: 8 * GENERATION }, (_, n) => n).filter((n) => !failed.includes(n));
    expect(found.map((n) => keys.find(key(n))?.body)).toEqual(found.map((n) => `answer ${n}`));
    await db.close();
  }));

function canTell(find: () => unknown): boolean {
  try {
    find();
    return true;
  } catch {
    return false;
  }
}
