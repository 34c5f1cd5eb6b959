import { knownMigrations, migrationsOf } from "../migrate.ts";
import { DAILY_TABLES } from "../retention/days.ts";
import type { Session } from "./driver.ts";
import { EXPECTED, VALUED } from "./expected-schema.ts";

/**
 * Throws, in words for the operator, if parts of this program's schema are missing, as after a restore that was cut off or that went
 * past its errors, or if the role does not own the tables of days. A service would start on either: what it had sent could not be
 * written down, and was sent again; or no table could be made for the days to come.
 *
 * Compares names only, since each version of PostgreSQL words definitions in its own way. What is there besides is left alone. A
 * schema that a newer version has made is not judged.
 */
export async function refusePartSchema(session: Session): Promise<void> {
  const problem = (await problemWithParts(session)) ?? (await problemWithDays(session));
  // Asked last: the newer version may have been at it just now.
  if (problem === undefined || (await isNewer(session))) return;
  throw new Error(problem);
}

async function isNewer(session: Session): Promise<boolean> {
  return (await migrationsOf(session)).length > knownMigrations().length;
}

async function problemWithParts(session: Session): Promise<string | undefined> {
  const there = new Set((await session.query<{ name: string }>(PARTS)).map(({ name }) => name));
  const missing = EXPECTED.filter(
    ({ name, table }) => !there.has(name) && (name === table || there.has(table)),
  );
  return lackOf(missing.map(({ words }) => words));
}

/** How many of the missing parts are named. */
const NAMED = 5;

function lackOf(missing: readonly string[]): string | undefined {
  if (missing.length === 0) return undefined;
  const more = missing.length > NAMED ? `; and ${missing.length - NAMED} more` : "";
  return `parts of its schema are missing, as after a restore that was cut off or went past an error: restore again, into an empty database; or make them again, if they were removed by hand. Missing: ${missing.slice(0, NAMED).join("; ")}${more}`;
}

const TABLES = EXPECTED.filter(({ name, table }) => name === table).map(({ name }) => name);

/**
 * Of the tables that statements find by their names, in whichever schema. A constraint with an index of its own has its name. An index
 * that is not valid is none: rows may be missing in it.
 */
const PARTS = `WITH own AS MATERIALIZED (
    SELECT oid, relname::text AS name, relkind FROM pg_class
    WHERE relname = ANY('{${TABLES.join()}}') AND pg_table_is_visible(oid)
  )
  SELECT name FROM own
  UNION ALL SELECT name || ' ' || attname || CASE WHEN atthasdef OR attidentity <> '' THEN '${VALUED}' ELSE '' END
    FROM own JOIN pg_attribute ON attrelid = own.oid AND attnum > 0 AND NOT attisdropped WHERE relkind <> 'S'
  UNION ALL SELECT name || ' ' || conname FROM own JOIN pg_constraint ON conrelid = own.oid WHERE contype IN ('f', 'c')
  UNION ALL SELECT name || ' ' || i.relname
    FROM own JOIN pg_index ON indrelid = own.oid AND indisvalid JOIN pg_class i ON i.oid = indexrelid`;

interface DayTables {
  /** YYYYMMDD, UTC; `null` where there is none yet. */
  readonly day: string | null;
  /** Those of `DAILY_TABLES` that have a part for the day, separated by spaces. */
  readonly tables: string;
  readonly isToCome: boolean | null;
  /** Who owns some of them, where our role is not a member of that role. */
  readonly stranger: string | null;
  readonly role: string;
}

async function problemWithDays(session: Session): Promise<string | undefined> {
  const days = await session.query<DayTables>(DAYS);
  const strange = days.find(({ stranger }) => stranger !== null);
  if (strange) {
    return `the role ${strange.role} does not own the tables of messages, so it cannot make those of the days to come, or drop those of days that are over: ALTER TABLE … OWNER TO ${strange.role}, for all that belong to ${strange.stranger}, or restore as ${strange.role} with pg_restore --no-owner`;
  }
  // Days that are over go one after the other, contents last, and by a clock that is set ahead also those that are not: then the rest are made again.
  const missing = days
    .filter(({ isToCome, tables }) => isToCome && tables !== "contents")
    .flatMap(({ day, tables }) =>
      DAILY_TABLES.filter((table) => !tables.split(" ").includes(table)).map((table) => `${table}_${day}`),
    );
  return lackOf(missing.map((name) => `TABLE ${name}`));
}

const DAYS = `SELECT right(c.relname, 8) AS day, string_agg(p.relname, ' ') AS tables,
    right(c.relname, 8) >= to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD') AS "isToCome",
    min(CASE WHEN NOT pg_has_role(p.relowner, 'USAGE') THEN pg_get_userbyid(p.relowner)::text
      WHEN NOT pg_has_role(c.relowner, 'USAGE') THEN pg_get_userbyid(c.relowner)::text END) AS stranger,
    quote_ident(current_user) AS role
  FROM pg_class p LEFT JOIN pg_inherits i ON i.inhparent = p.oid LEFT JOIN pg_class c ON c.oid = i.inhrelid
  WHERE p.relname = ANY('{${DAILY_TABLES.join()}}') AND pg_table_is_visible(p.oid)
  GROUP BY day ORDER BY day`;
