import type { KeptMailPolicy } from "../core/email/mail-policy.ts";

/** A row of `mta_sts_policies`, in either engine. */
export interface MailPolicyRow {
  readonly policy_id: string;
  readonly mode: KeptMailPolicy["mode"];
  /** JSON, a list of patterns. */
  readonly mx: string;
  readonly max_age_ms: number;
  readonly expires_at: number;
}

export function toMailPolicy(row: MailPolicyRow): KeptMailPolicy {
  return {
    policyId: row.policy_id,
    mode: row.mode,
    mx: JSON.parse(row.mx) as string[],
    maxAgeMs: row.max_age_ms,
    expiresAt: row.expires_at,
  };
}
