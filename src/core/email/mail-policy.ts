/** What a domain says of its mail hosts and TLS (MTA-STS, RFC 8461 §3). */
export interface MailPolicy {
  readonly mode: "enforce" | "testing" | "none";
  /** `mail.example.com` or `*.example.com`; lower case. */
  readonly mx: readonly string[];
  /** How long it holds, milliseconds. */
  readonly maxAgeMs: number;
}

/** One as it was found, to be kept to until its time is over. */
export interface KeptMailPolicy extends MailPolicy {
  /** By which the domain's TXT record names it. */
  readonly policyId: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}
