import {
  openWebhookSecrets,
  sealWebhookSecret,
  VALID_SECRETS,
  type WebhookSecretRow,
} from "../../records/webhook-secrets.ts";
import type { WebhookSecret } from "../../store.ts";
import type { Vault } from "../../vault.ts";
import type { Database } from "../database/database.ts";

/** An account's webhook signing secrets. */
export interface WebhookSecrets {
  /** The valid ones, newest first. */
  newest(accountId: string): readonly WebhookSecret[];
  /** Inside a transaction. */
  add(accountId: string, secret: string, now: number): void;
}

export function createWebhookSecrets(db: Database, vault: Vault): WebhookSecrets {
  const select = db.prepare<WebhookSecretRow>(
    `SELECT secret, created_at FROM webhook_secrets WHERE account_id = ? ORDER BY number DESC LIMIT ${VALID_SECRETS}`,
  );
  const insert = db.prepare("INSERT INTO webhook_secrets (account_id, secret, created_at) VALUES (?, ?, ?)");
  const trim = db.prepare(
    `DELETE FROM webhook_secrets WHERE account_id = ?1 AND number NOT IN
       (SELECT number FROM webhook_secrets WHERE account_id = ?1 ORDER BY number DESC LIMIT ${VALID_SECRETS})`,
  );
  return {
    newest: (accountId) => openWebhookSecrets(vault, accountId, select.all(accountId)),
    add(accountId, secret, now) {
      insert.run(accountId, sealWebhookSecret(vault, accountId, secret), now);
      trim.run(accountId);
    },
  };
}
