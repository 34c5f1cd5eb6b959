/** How webhook secrets are stored: sealed, for the same place in both engines, since a move copies them unopened. */
import type { WebhookSecret } from "../store.ts";
import type { Vault } from "../vault.ts";

/** How many secrets of an account are kept: during a rotation two are valid. */
export const VALID_SECRETS = 2;

export function sealWebhookSecret(vault: Vault, accountId: string, secret: string): string {
  return vault.seal(secret, placeOf(accountId));
}

export interface WebhookSecretRow {
  readonly secret: string;
  readonly created_at: number;
}

export function openWebhookSecrets(
  vault: Vault,
  accountId: string,
  rows: readonly WebhookSecretRow[],
): readonly WebhookSecret[] {
  return rows.map((row) => ({
    secret: vault.open(row.secret, placeOf(accountId)),
    createdAt: row.created_at,
  }));
}

function placeOf(accountId: string): string {
  return `webhook_secrets/secret/${accountId}`;
}
