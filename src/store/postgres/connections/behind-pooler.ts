import { errorText } from "../../../core/error-text.ts";
import { CONNECTIONS, type Driver } from "../database/driver.ts";
import { readHosts } from "./hosts.ts";
import { SETTINGS, TIME_LIMITS } from "./session-settings.ts";

interface Drivers {
  readonly driver: Driver;
  readonly pulse: Driver;
}

/**
 * Throws, with what to do, if a pooler between us and the server does not let us work: it passes on no settings of a session,
 * so the role has to have them, and it may have too few connections for ours.
 */
export async function refuseUnfitPooler(drivers: Drivers, url: string): Promise<void> {
  const { isPrepared } = readHosts(url);
  const wanted = new Map(Object.entries({ ...SETTINGS, ...TIME_LIMITS }));
  for (const name of ALL_THE_SAME) wanted.delete(name);
  // Without names statements are planned each time, whatever is set.
  if (!isPrepared) wanted.delete("plan_cache_mode");
  const settings = await readSettings(drivers.driver, [...wanted.keys()]);
  if (settings.every(({ isOurs }) => isOurs)) return;
  const missing = settings.filter(({ name, value }) => !isFit(name, value) && value !== wanted.get(name));
  if (missing.length > 0)
    throw new Error(isPrepared ? `${adviceOn(missing, wanted)}${NAMED}` : adviceOn(missing, wanted));
  await refuseFewConnections(drivers);
}

/** Those of our settings that make no difference to the statements that we have. */
const ALL_THE_SAME = ["bytea_output", "DateStyle", "TimeZone"];

/** Values that do as well as ours. */
function isFit(name: string, value: string): boolean {
  return name in TIME_LIMITS ? value !== "0" : name === "synchronous_commit" && value === "remote_apply";
}

interface Setting {
  readonly name: string;
  readonly value: string;
  /** Whether our session began with it, so that no pooler was in the way. */
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

const NAMED = ". Unless it passes on prepared statements, DATABASE_URL has to end with ?prepare=false too";

/** Throws if the pooler has too few: with `pool_mode = session` each connection of ours keeps one, and the rest wait for ever. */
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
    // Where there is not even one any more, the database is away, which is another error.
    await driver.hold((connection) => connection.exec(USE));
    throw new Error(`${errorText(cause)}: ${TOO_FEW}`, { cause });
  });
}

const USE = "SELECT 1";

const TOO_FEW = `the pooler does not give this process ${CONNECTIONS + 1} connections at once: with pool_mode = session each process needs ${CONNECTIONS + 2} (PgBouncer: default_pool_size), with pool_mode = transaction a few do for all`;
