import type { Session } from "./driver.ts";

/** Settings of `synchronous_commit` with which a commit is on disk when it is answered, on that of the standby too. */
const SAFE: ReadonlySet<string> = new Set(["on", "remote_apply"]);

/**
 * Throws if commits may be answered before they are on disk. A direct connection sets it by itself (`driver.ts`); behind a
 * pooler the role's setting counts.
 */
export async function refuseUnsafeCommits(session: Session): Promise<void> {
  const [row] = await session.query<{ mode: string }>("SELECT current_setting('synchronous_commit') AS mode");
  if (!row || SAFE.has(row.mode)) return;
  throw new Error(
    `synchronous_commit is ${row.mode}, and accepted messages could be lost: ALTER ROLE … SET synchronous_commit = on`,
  );
}
