import type { Vault } from "../../vault.ts";
import type { Database } from "../database/database.ts";

/** Two are valid during a rotation. */
const VALID_SECRETS = 2;

/** An account's webhook signing secrets. */
export interface WebhookSecrets {
  /** The valid ones, newest first. */
  newest(accountId: string): readonly { readonly secret: string; readonly createdAt: number }[];
  /** Inside a transaction. */
  add(accountId: string, secret: string, now: number): void;
}

export function createWebhookSecrets(db: Database, vault: Vault): WebhookSecrets {
  const select = db.prepare<{ secret: string; created_at: number }>(
    `SELECT secret, created_at FROM webhook_secrets WHERE account_id = ? ORDER BY number DESC LIMIT ${VALID_SECRETS}`,
  );
  const insert = db.prepare("INSERT INTO webhook_secrets (account_id, secret, created_at) VALUES (?, ?, ?)");
  const trim = db.prepare(
    `DELETE FROM webhook_secrets WHERE account_id = ?1 AND number NOT IN
       (SELECT number FROM webhook_secrets WHERE account_id = ?1 ORDER BY number DESC LIMIT ${VALID_SECRETS})`,
  );
  return {
    newest: (accountId) =>
      select.all(accountId).map((row) => ({
        secret: vault.open(row.secret, placeOf(accountId)),
        createdAt: row.created_at,
      })),
    add(accountId, secret, now) {
      insert.run(accountId, vault.seal(secret, placeOf(accountId)), now);
      trim.run(accountId);
    },
  };
}

function placeOf(accountId: string): string {
  return `webhook_secrets/secret/${accountId}`;
}
