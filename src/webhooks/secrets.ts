import type { Clock } from "../core/clock.ts";
import type { Records } from "../store/store.ts";

/** The secrets that sign an account's webhooks, the newest first; at most a second old. */
export type SecretsOf = (accountId: string) => Promise<readonly string[]>;

/** The error of an attempt that could not be signed. */
export const NO_SECRET = { code: "no_secret", message: "the account has no webhook secret" } as const;

/** A rotation takes effect within this time. */
const MAX_AGE_MS = 1_000;
const MAX_ACCOUNTS = 10_000;

export function createSecrets(records: Pick<Records, "webhookSecrets">, clock: Clock): SecretsOf {
  const known = new Map<string, { readonly secrets: Promise<readonly string[]>; readonly readAt: number }>();
  const read = async (accountId: string) =>
    (await records.webhookSecrets(accountId)).map(({ secret }) => secret);

  return (accountId) => {
    const readAt = clock.monotonicMs();
    const found = known.get(accountId);
    if (found && readAt - found.readAt < MAX_AGE_MS) return found.secrets;
    const secrets = read(accountId);
    // A failure is not remembered.
    secrets.catch(() => known.delete(accountId));
    if (known.size >= MAX_ACCOUNTS) known.clear();
    known.set(accountId, { secrets, readAt });
    return secrets;
  };
}
