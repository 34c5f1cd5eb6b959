import { writePrivateFile } from "../../private-file.ts";
import type { AccessStore, Conflict, FirstStart } from "../../store.ts";
import type { Database } from "../database/database.ts";
import type { Meta } from "../database/meta.ts";
import type { RecordRows } from "./record-rows.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

export interface AccessParts {
  readonly rows: RecordRows;
  readonly meta: Meta;
  readonly webhookSecrets: WebhookSecrets;
}

export function createAccess(db: Database, parts: AccessParts): AccessStore {
  const { meta } = parts;
  return {
    bootstrap: createBootstrap(db, parts),
    adminTokenDigest: () => db.read(meta.adminTokenDigest),
    consoleSeal: () => db.read(meta.consoleSeal),
    setConsoleSeal: (seal) => db.write(() => meta.setConsoleSeal(seal)),
  };
}

function createBootstrap(db: Database, { rows, ...parts }: AccessParts): AccessStore["bootstrap"] {
  const anyAccount = db.prepare("SELECT 1 FROM accounts LIMIT 1");
  return (first: FirstStart) =>
    db.write(() => {
      if (anyAccount.get() !== undefined) return false;
      const { account, apiKey, pushApp } = first;
      mustCreate(rows.insert("accounts", account));
      mustCreate(rows.insert("apiKeys", apiKey));
      mustCreate(rows.insert("pushApps", pushApp));
      parts.webhookSecrets.add(account.id, first.webhookSecret, account.createdAt);
      parts.meta.setAdminTokenDigest(first.adminTokenDigest);
      parts.meta.setConsoleSeal({ passwordDigest: first.consolePasswordDigest });
      if (first.announce) writePrivateFile(first.announce.path, first.announce.text);
      return true;
    });
}

function mustCreate(done: "created" | Conflict): void {
  if (done !== "created") throw new Error(`the first account cannot be created: ${done.conflict} is taken`);
}
