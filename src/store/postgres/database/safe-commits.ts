import type { Session } from "./driver.ts";

/** Settings of `synchronous_commit` with which a commit is on disk when it is answered, on that of the standby too. */
const SAFE: ReadonlySet<string> = new Set(["on", "remote_apply"]);

/**
 * Throws if commits may be answered before they are on disk, or if rows may refer to others that are not there. A direct
 * connection sets the first by itself (`session-settings.ts`); behind a pooler the role's setting counts. The second only
 * a superuser may set.
 */
export async function refuseUnsafeCommits(session: Session): Promise<void> {
  const [row] = await session.query<{ mode: string; triggers: string }>(SETTINGS);
  if (row && !SAFE.has(row.mode))
    throw new Error(
      `synchronous_commit is ${row.mode}, and accepted messages could be lost: ALTER ROLE … SET synchronous_commit = on`,
    );
  if (row?.triggers === "replica")
    throw new Error(
      "session_replication_role is replica, and foreign keys would not be checked: ALTER ROLE … RESET session_replication_role",
    );
}

const SETTINGS = `SELECT current_setting('synchronous_commit') AS mode,
  current_setting('session_replication_role') AS triggers`;
