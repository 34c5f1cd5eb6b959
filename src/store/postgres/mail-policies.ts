import type { MailPolicyStore } from "../mail-policies.ts";
import { type MailPolicyRow, toMailPolicy } from "../mail-policy-row.ts";
import type { Database } from "./database/transactions.ts";

/** `Store.mailPolicies`. */
export function createMailPolicies(db: Database): MailPolicyStore {
  return {
    async find(domain) {
      const [row] = await db.query<MailPolicyRow>(FIND, [domain]);
      return row && toMailPolicy(row);
    },
    keep: (domain, { policyId, mode, mx, maxAgeMs, expiresAt }, now) =>
      db.transaction(async (session) => {
        await session.query(REMOVE_ENDED, [now]);
        await session.query(KEEP, [domain, policyId, mode, JSON.stringify(mx), maxAgeMs, expiresAt]);
      }),
  };
}

const FIND = `SELECT policy_id, mode, mx, max_age_ms, expires_at FROM mta_sts_policies WHERE domain = $1`;

/** Removes up to twenty policies that have ended, each time one is stored. Skips those that another process is deleting. */
const REMOVE_ENDED = `DELETE FROM mta_sts_policies WHERE domain = ANY(ARRAY(
  SELECT domain FROM mta_sts_policies WHERE expires_at < $1 ORDER BY domain LIMIT 20 FOR UPDATE SKIP LOCKED))`;

const KEEP = `INSERT INTO mta_sts_policies (domain, policy_id, mode, mx, max_age_ms, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (domain) DO UPDATE SET policy_id = excluded.policy_id, mode = excluded.mode, mx = excluded.mx,
    max_age_ms = excluded.max_age_ms, expires_at = excluded.expires_at`;
