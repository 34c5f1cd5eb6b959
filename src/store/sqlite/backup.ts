import { numberAfterRestore } from "../events/number-after-restore.ts";
import { type Driver, openDriver } from "./database/driver.ts";
import { readMeta } from "./database/meta.ts";
import { isNewer, refuseOtherVersion } from "./migrate.ts";

/** What a database holds, in numbers. */
export interface Holdings {
  readonly accounts: number;
  readonly connectors: number;
  readonly domains: number;
  readonly messages: number;
  /** Jobs: what a service on this database would still send. */
  readonly unfinished: number;
}

/**
 * Writes the database as it is now to a new file, in one read transaction, which blocks nobody: a process may be using
 * it. The new file is not synced. Throws if `target` exists.
 *
 * @param onBegun called before the first octet is written, with about how many octets there will be
 */
export function copyDatabase(
  path: string,
  target: string,
  onBegun: (octets: number) => void = () => {},
): void {
  const driver = openDriver(path, { isReadOnly: true });
  try {
    driver.exec("PRAGMA busy_timeout = 2000");
    onBegun(contentOctets(driver));
    driver.prepare("VACUUM INTO ?").run(target);
  } finally {
    driver.close();
  }
}

/** The size of the database without its free pages, which are not copied. */
function contentOctets(driver: Driver): number {
  const [size, pages, free] = ["page_size", "page_count", "freelist_count"].map((name) => {
    const row = driver.prepare<Record<string, number>>(`PRAGMA ${name}`).get();
    return row?.[name] ?? 0;
  });
  return (size ?? 0) * ((pages ?? 0) - (free ?? 0));
}

export interface Inspection {
  /** What SQLite finds wrong with the file; empty: it is whole. */
  readonly problems: readonly string[];
  readonly holdings: Holdings;
  /** The check value of the master key that its secrets are sealed under; see `Vault.checkValue`. */
  readonly keyCheckValue?: string;
  /** Whether a newer program has migrated it, so that this one cannot work on it. */
  readonly isNewer: boolean;
}

/** Checks and counts a database that nobody has open. Throws if the file is not a database. */
export function inspectDatabase(path: string): Inspection {
  const driver = openDriver(path, { isReadOnly: true });
  const count = (table: string) =>
    driver.prepare<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`).get()?.rows ?? 0;
  try {
    const found = driver.prepare<{ integrity_check: string }>("PRAGMA integrity_check(20)").all();
    const orphans = driver.prepare<{ table: string }>("PRAGMA foreign_key_check").all();
    const problems = [
      ...found.map((row) => row.integrity_check).filter((text) => text !== "ok"),
      ...new Set(orphans.map(({ table }) => `${table} refers to rows that are not there`)),
    ];
    const holdings = {
      accounts: count("accounts"),
      connectors: count("connectors"),
      domains: count("domains"),
      messages: count("messages"),
      unfinished: count("jobs"),
    };
    const keyCheckValue = readMeta(driver, "master_key_check");
    const isOfNewer = isNewer(driver);
    return { problems, holdings, isNewer: isOfNewer, ...(keyCheckValue !== undefined && { keyCheckValue }) };
  } finally {
    driver.close();
  }
}

/**
 * Lets the events of a restored database that nobody has open get numbers that were never given; see `numberAfterRestore`. The
 * file is not synced. It has no journal beside it meanwhile, which would be taken for that of the next copy if this is cut off.
 */
export function skipLostEventNumbers(path: string, now: number): void {
  const driver = openDriver(path, { create: false });
  try {
    driver.exec("PRAGMA journal_mode = OFF");
    const next = numberAfterRestore(now);
    const isThere = driver
      .prepare("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'events'")
      .run(next);
    if (!isThere) driver.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('events', ?)").run(next);
  } finally {
    driver.close();
  }
}

/** The check value of the master key that a database belongs to. A process may be using the database. */
export function readKeyCheckValue(path: string): string | undefined {
  const driver = openDriver(path, { isReadOnly: true });
  try {
    return readMeta(driver, "master_key_check");
  } finally {
    driver.close();
  }
}

/** Throws, with words for the operator, if this program cannot work on a database. */
export function refuseOtherVersionAt(path: string): void {
  const driver = openDriver(path, { isReadOnly: true });
  try {
    refuseOtherVersion(driver);
  } finally {
    driver.close();
  }
}
