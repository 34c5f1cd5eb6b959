import { present } from "../../../core/present.ts";
import { writePrivateFile } from "../../private-file.ts";
import type { AccessStore, Conflict, FirstStart } from "../../store.ts";
import type { Database } from "../database/database.ts";
import { readMeta, writeMeta } from "../database/meta.ts";
import type { RecordRows } from "./record-rows.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

export interface AccessParts {
  readonly rows: RecordRows;
  readonly webhookSecrets: WebhookSecrets;
}

export function createAccess(db: Database, parts: AccessParts): AccessStore {
  return {
    bootstrap: createBootstrap(db, parts),
    adminTokenDigest: () => db.read(() => readMeta(db, "admin_token_digest")),
    consoleSeal: () =>
      db.read(() => {
        const passwordDigest = readMeta(db, "console_password_digest");
        return present({ passwordDigest, round: readMeta(db, "console_round") });
      }),
    setConsoleSeal: ({ passwordDigest, round }) =>
      db.write(() => {
        if (passwordDigest !== undefined) writeMeta(db, "console_password_digest", passwordDigest);
        if (round !== undefined) writeMeta(db, "console_round", round);
      }),
  };
}

function createBootstrap(db: Database, { rows, webhookSecrets }: AccessParts): AccessStore["bootstrap"] {
  const anyAccount = db.prepare("SELECT 1 FROM accounts LIMIT 1");
  return (first: FirstStart) =>
    db.write(() => {
      if (anyAccount.get() !== undefined) return false;
      const { account, apiKey, pushApp } = first;
      mustCreate(rows.insert("accounts", account));
      mustCreate(rows.insert("apiKeys", apiKey));
      mustCreate(rows.insert("pushApps", pushApp));
      webhookSecrets.add(account.id, first.webhookSecret, account.createdAt);
      writeMeta(db, "admin_token_digest", first.adminTokenDigest);
      writeMeta(db, "console_password_digest", first.consolePasswordDigest);
      if (first.announce) writePrivateFile(first.announce.path, first.announce.text);
      return true;
    });
}

function mustCreate(done: "created" | Conflict): void {
  if (done !== "created") throw new Error(`the first account cannot be created: ${done.conflict} is taken`);
}
