import { present } from "../../../core/present.ts";
import { writePrivateFile } from "../../private-file.ts";
import { createRecordValues } from "../../records/record-values.ts";
import type { AccessStore, FirstStart } from "../../store.ts";
import type { Vault } from "../../vault.ts";
import type { Session } from "../database/driver.ts";
import { readMeta, refuseHalfMoved, writeMeta } from "../database/meta.ts";
import type { Database } from "../database/transactions.ts";
import { createRecordRows } from "./record-rows.ts";
import { underKey } from "./under-key.ts";
import { createWebhookSecrets } from "./webhook-secrets.ts";

export function createAccess(db: Database, vault: Vault): AccessStore {
  return {
    bootstrap: createBootstrap(underKey(db, vault), vault),
    adminTokenDigest: () => readMeta(db, "admin_token_digest"),
    async consoleSeal() {
      const names = ["console_password_digest", "console_round"] as const;
      const [passwordDigest, round] = await Promise.all(names.map((name) => readMeta(db, name)));
      return present({ passwordDigest, round });
    },
    setConsoleSeal: ({ passwordDigest, round }) =>
      db.transaction(async (session) => {
        if (passwordDigest !== undefined) await writeMeta(session, "console_password_digest", passwordDigest);
        if (round !== undefined) await writeMeta(session, "console_round", round);
      }),
  };
}

function createBootstrap(db: Database, vault: Vault): AccessStore["bootstrap"] {
  const rows = createRecordRows(createRecordValues(vault));
  const secrets = createWebhookSecrets(vault);
  const make = async (session: Session, { account, apiKey, pushApp, ...first }: FirstStart) => {
    await rows.insert(session, "accounts", account);
    await rows.insert(session, "apiKeys", apiKey);
    await rows.insert(session, "pushApps", pushApp);
    const secret = { accountId: account.id, secret: first.webhookSecret, now: account.createdAt };
    await secrets.add(session, secret);
    await writeMeta(session, "admin_token_digest", first.adminTokenDigest);
    await writeMeta(session, "console_password_digest", first.consolePasswordDigest);
    if (first.announce) writePrivateFile(first.announce.path, first.announce.text);
  };
  return (first) =>
    db.transaction(async (session) => {
      // If several processes start together, one makes the account and the others find it.
      await session.query("LOCK TABLE accounts IN SHARE ROW EXCLUSIVE MODE");
      // A restore or a move may have begun since the database was opened.
      await refuseHalfMoved(session);
      if ((await session.query("SELECT 1 FROM accounts LIMIT 1")).length > 0) return false;
      await make(session, first);
      return true;
    });
}
