export const POLICY_MODES = ["enforce", "testing", "none"] as const;

/** The MTA-STS policy of a domain (RFC 8461 §3): its mail hosts, and whether they must prove their names by TLS. */
export interface MailPolicy {
  readonly mode: (typeof POLICY_MODES)[number];
  /** `mail.example.com` or `*.example.com`; lower case. */
  readonly mx: readonly string[];
  /** How long it holds, milliseconds. */
  readonly maxAgeMs: number;
}

/** A policy as it was fetched, followed until it expires. */
export interface KeptMailPolicy extends MailPolicy {
  /** The id by which the domain's TXT record names it. */
  readonly policyId: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}
