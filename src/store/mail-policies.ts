import type { KeptMailPolicy } from "../core/email/mail-policy.ts";

/** The policies that domains have published for mail to them: a restart forgets none (RFC 8461 §3.3). */
export interface MailPolicyStore {
  /** `domain` in A-labels, lower case. Also one whose time is over, until it is taken away. */
  find(domain: string): Promise<KeptMailPolicy | undefined>;
  /** In place of the one before. Takes some of those away that ended before `now`. */
  keep(domain: string, policy: KeptMailPolicy, now: number): Promise<void>;
}
