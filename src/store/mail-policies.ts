import type { KeptMailPolicy } from "../core/email/mail-policy.ts";

/** The MTA-STS policies that domains have published. They must outlive a restart (RFC 8461 §3.3). */
export interface MailPolicyStore {
  /** `domain` in A-labels, lower case. May return a policy that has expired. */
  find(domain: string): Promise<KeptMailPolicy | undefined>;
  /** Replaces the domain's policy. Deletes some policies that expired before `now`. */
  keep(domain: string, policy: KeptMailPolicy, now: number): Promise<void>;
}
