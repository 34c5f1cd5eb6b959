import {
  openWebhookSecrets,
  sealWebhookSecret,
  VALID_SECRETS,
  type WebhookSecretRow,
} from "../../records/webhook-secrets.ts";
import type { WebhookSecret } from "../../store.ts";
import type { Vault } from "../../vault.ts";
import type { Session } from "../database/driver.ts";

export interface WebhookSecrets {
  newest(session: Session, accountId: string): Promise<readonly WebhookSecret[]>;
  /**
   * Locks the account until the transaction ends: two secrets added at the same time would each keep the old one, and leave
   * three valid. False if there is no such account.
   */
  lock(session: Session, accountId: string): Promise<boolean>;
  /** Adds a secret and removes the oldest ones, inside a transaction. */
  add(session: Session, secret: { accountId: string; secret: string; now: number }): Promise<void>;
}

export function createWebhookSecrets(vault: Vault): WebhookSecrets {
  return {
    async newest(session, accountId) {
      const rows = await session.query<WebhookSecretRow>(
        `SELECT secret, created_at FROM webhook_secrets WHERE account_id = $1 ORDER BY number DESC LIMIT ${VALID_SECRETS}`,
        [accountId],
      );
      return openWebhookSecrets(vault, accountId, rows);
    },
    async lock(session, accountId) {
      const sql = "SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE";
      return (await session.query(sql, [accountId])).length > 0;
    },
    async add(session, { accountId, secret, now }) {
      await session.query(
        "INSERT INTO webhook_secrets (account_id, secret, created_at) VALUES ($1, $2, $3)",
        [accountId, sealWebhookSecret(vault, accountId, secret), now],
      );
      await session.query(
        `DELETE FROM webhook_secrets WHERE account_id = $1 AND number NOT IN
           (SELECT number FROM webhook_secrets WHERE account_id = $1 ORDER BY number DESC LIMIT ${VALID_SECRETS})`,
        [accountId],
      );
    },
  };
}
