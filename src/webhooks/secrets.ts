import type { Clock } from "../core/clock.ts";
import { createFreshCache } from "../core/work/fresh-cache.ts";
import type { Records } from "../store/store.ts";

/**
 * Returns the secrets that sign an account's webhooks, newest first; empty if it has none. They were read at most a second ago.
 * Rejects if the store does.
 */
export type SecretsOf = (accountId: string) => Promise<readonly string[]>;

/** The error of an attempt that could not be signed. */
export const NO_SECRET = { code: "no_secret", message: "the account has no webhook secret" } as const;

const MAX_ACCOUNTS = 10_000;

export function createSecrets(records: Pick<Records, "webhookSecrets">, clock: Clock): SecretsOf {
  const cache = createFreshCache<readonly string[]>({ clock, maxEntries: MAX_ACCOUNTS });
  const read = async (accountId: string) =>
    (await records.webhookSecrets(accountId)).map(({ secret }) => secret);
  return async (accountId) => cache.get(accountId, read);
}
