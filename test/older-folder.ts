/** Data folders of a service of an older version. */
import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const MIGRATIONS = new URL("../src/store/sqlite/migrations/", import.meta.url);

/** Makes a database as the version left it whose last migration was this. Returns how many there have been since. */
export function makeOlder(folder: string, last: number): number {
  const database = new Database(join(folder, "postrider.db"), { create: true, strict: true });
  database.exec(
    "CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL) STRICT",
  );
  const done = database.query("INSERT INTO migrations (number, name, checksum) VALUES (?, ?, ?)");
  const files = readdirSync(MIGRATIONS).sort();
  for (const [index, file] of files.slice(0, last).entries()) {
    const sql = readFileSync(new URL(file, MIGRATIONS), "utf8");
    database.exec(sql);
    done.run(index + 1, file.replace(".sql", ""), createHash("sha256").update(sql).digest("hex"));
  }
  database.close();
  return files.length - last;
}

/** The steps of a migration that a start has told of: name, number, how many. */
export function stepsIn(output: string): readonly unknown[] {
  const lines = output.split("\n").filter((line) => line.includes("schema of this version"));
  return lines.map((line) => {
    const { migration, step, of } = JSON.parse(line);
    return [migration, step, of];
  });
}

/** Lets the migrations take longer than anybody waits, until `letGo`, as with many millions of messages. */
export function makeSlow(folder: string): { letGo(): void } {
  const run = (...statements: readonly string[]) => {
    const database = new Database(join(folder, "postrider.db"));
    for (const sql of statements) database.exec(sql);
    database.close();
  };
  run(
    "CREATE VIEW long AS WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 1e10) SELECT max(n) AS n FROM t",
    "CREATE TRIGGER slow AFTER INSERT ON migrations BEGIN SELECT n FROM long; END",
  );
  return { letGo: () => run("DROP TRIGGER slow", "DROP VIEW long") };
}
