import type { MailPolicyStore } from "../mail-policies.ts";
import { type MailPolicyRow, toMailPolicy } from "../mail-policy-row.ts";
import type { Database } from "./database/database.ts";

/** How many expired policies to delete each time one is stored. */
const MAX_ENDED = 20;

/** `Store.mailPolicies`. */
export function createMailPolicies(db: Database): MailPolicyStore {
  const find = db.prepare<MailPolicyRow>(
    "SELECT policy_id, mode, mx, max_age_ms, expires_at FROM mta_sts_policies WHERE domain = ?",
  );
  const keep = db.prepare(
    `INSERT INTO mta_sts_policies (domain, policy_id, mode, mx, max_age_ms, expires_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (domain) DO UPDATE SET policy_id = excluded.policy_id, mode = excluded.mode, mx = excluded.mx,
       max_age_ms = excluded.max_age_ms, expires_at = excluded.expires_at`,
  );
  const removeEnded = db.prepare(
    `DELETE FROM mta_sts_policies WHERE domain IN
       (SELECT domain FROM mta_sts_policies WHERE expires_at < ? LIMIT ${MAX_ENDED})`,
  );
  return {
    async find(domain) {
      const row = await db.read(() => find.get(domain));
      return row && toMailPolicy(row);
    },
    keep: (domain, { policyId, mode, mx, maxAgeMs, expiresAt }, now) =>
      db.write(() => {
        removeEnded.run(now);
        keep.run(domain, policyId, mode, JSON.stringify(mx), maxAgeMs, expiresAt);
      }),
  };
}
