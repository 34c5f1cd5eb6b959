import type { Session } from "./driver.ts";

/**
 * Throws if foreign keys are not checked, as in sessions that apply the changes of another server. Only a superuser, or a role
 * that was granted the right, can set that.
 */
export async function refuseUncheckedReferences(session: Session): Promise<void> {
  const [row] = await session.query<{ role: string }>(ROLE);
  if (row?.role !== "replica") return;
  throw new Error(
    "session_replication_role is replica, and foreign keys would not be checked: ALTER ROLE … RESET session_replication_role",
  );
}

const ROLE = "SELECT current_setting('session_replication_role') AS role";
