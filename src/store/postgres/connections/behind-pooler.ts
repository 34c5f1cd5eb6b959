import { errorText } from "../../../core/error-text.ts";
import { CONNECTIONS, type Driver } from "../database/driver.ts";
import { readHosts } from "./hosts.ts";
import { SETTINGS, TIME_LIMITS } from "./session-settings.ts";

interface Drivers {
  readonly driver: Driver;
  readonly pulse: Driver;
}

/**
 * Throws an error that says what to do if a pooler between us and the server keeps the service from working. A pooler passes on
 * no settings of a session, so the role has to have them. It may also have too few connections for ours.
 */
export async function refuseUnfitPooler(drivers: Drivers, url: string): Promise<void> {
  const { isPrepared } = readHosts(url);
  const wanted = new Map(Object.entries({ ...SETTINGS, ...TIME_LIMITS }));
  for (const name of WITHOUT_EFFECT) wanted.delete(name);
  // Statements without a name are planned each time, whatever is set.
  if (!isPrepared) wanted.delete("plan_cache_mode");
  const settings = await readSettings(drivers.driver, [...wanted.keys()]);
  if (settings.every(({ isOurs }) => isOurs)) return;
  const missing = settings.filter(({ name, value }) => !isFit(name, value) && value !== wanted.get(name));
  if (missing.length > 0)
    throw new Error(isPrepared ? `${adviceOn(missing, wanted)}${NAMED}` : adviceOn(missing, wanted));
  await refuseFewConnections(drivers);
}

/** Settings of ours that change nothing about the statements that we have. */
const WITHOUT_EFFECT = ["bytea_output", "DateStyle", "TimeZone"];

/** Whether a value does as well as ours: any time limit, a commit that waits for more than ours, or any messages with the warnings. */
function isFit(name: string, value: string): boolean {
  if (name in TIME_LIMITS) return value !== "0";
  if (name === "client_min_messages") return value !== "error";
  return name === "synchronous_commit" && value === "remote_apply";
}

interface Setting {
  readonly name: string;
  readonly value: string;
  /** Whether our session set it at its start. If so, there is no pooler. */
  readonly isOurs: boolean;
  /** The name of our role, as SQL writes it. */
  readonly role: string;
}

/** Reads the settings by a statement without a name, since a pooler may lose named ones. */
function readSettings(driver: Driver, names: readonly string[]): Promise<readonly Setting[]> {
  return driver.hold((connection) =>
    connection.exec<Setting>(
      `SELECT name, setting AS value, source = 'client' AS "isOurs", quote_ident(session_user) AS role
       FROM pg_settings WHERE name = ANY('{${names.join()}}') ORDER BY name`,
    ),
  );
}

function adviceOn(missing: readonly Setting[], wanted: ReadonlyMap<string, string>): string {
  const statements = missing.map(
    ({ name, role }) => `ALTER ROLE ${role} SET ${name} = '${wanted.get(name)}'`,
  );
  return `the role lacks settings that sessions behind a pooler need: run ${statements.join("; ")}, and let the pooler connect anew (PgBouncer: RECONNECT)`;
}

const NAMED =
  ". Unless the pooler passes on prepared statements, DATABASE_URL has to end with ?prepare=false too";

/**
 * Throws if the pooler has too few connections: with `pool_mode = session` each of ours keeps one of the pooler's, and those
 * that get none wait for ever.
 */
async function refuseFewConnections({ driver, pulse }: Drivers): Promise<void> {
  const all = [pulse, ...Array.from({ length: CONNECTIONS }, () => driver)];
  const over = Promise.withResolvers<void>();
  let used = 0;
  const uses = all.map((one) =>
    one.hold(async (connection) => {
      await connection.exec(USE);
      if (++used === all.length) over.resolve();
      await over.promise;
    }),
  );
  await Promise.all(uses).catch(async (cause) => {
    over.resolve();
    await Promise.allSettled(uses);
    // If not even one connection can be had any more, the database is away: then this throws, and not the advice below.
    await driver.hold((connection) => connection.exec(USE));
    throw new Error(`${errorText(cause)}: ${TOO_FEW}`, { cause });
  });
}

const USE = "SELECT 1";

const TOO_FEW = `the pooler does not give this process ${CONNECTIONS + 1} connections at once: with pool_mode = session each process needs ${CONNECTIONS + 2} (PgBouncer: default_pool_size), with pool_mode = transaction a few are enough for all processes`;
