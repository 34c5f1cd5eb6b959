import { onServer } from "./stored-rows.ts";

/** The last migration of the version that `makeOlderDatabase` goes back to. */
export const OLDER = 3;

/** Makes a PostgreSQL database one of an older version. */
export async function makeOlderDatabase(url: string): Promise<void> {
  await onServer(
    url,
    `DROP INDEX registrations_by_token_hash;
     CREATE INDEX registrations_by_token ON registrations (token);
     ALTER TABLE lease_processes DROP COLUMN is_sharing;
     CREATE INDEX parked_receipts_of_connector ON parked_receipts (connector_id);
     ALTER TABLE jobs DROP COLUMN interruptions, DROP COLUMN interrupted_claim;
     ALTER TABLE erasures DROP COLUMN last_id, DROP COLUMN last_job;
     ALTER TABLE inbound_parts DROP COLUMN came_over;
     DROP INDEX opt_outs_by_recipient;
     DELETE FROM migrations WHERE number > ${OLDER}`,
  );
}
