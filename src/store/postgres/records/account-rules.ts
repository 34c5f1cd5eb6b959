import type { RecordKind } from "../../../core/records/accounts.ts";
import type { Fields } from "../../records/record-values.ts";
import type { Session } from "../database/driver.ts";
import type { Conflict } from "./record-rows.ts";

/**
 * What holds among the records of one account, and no index says: refuses what there may be once; another default
 * sender steps back. For use inside the transaction that writes. Of an update `fields` holds the changes and the id.
 */
export async function applyAccountRules(
  session: Session,
  kind: RecordKind,
  fields: Fields,
): Promise<Conflict | undefined> {
  const id = String(fields.id);
  if (kind === "senders" && fields.isDefault === true) {
    const owner = await lockOwner(session, "senders", fields);
    await session.query(
      "UPDATE senders SET is_default = false WHERE account_id = $1 AND is_default AND id <> $2",
      [owner, id],
    );
  }
  if (kind !== "smsTemplates" || typeof fields.dltTemplateId !== "string") return undefined;
  const owner = await lockOwner(session, "sms_templates", fields);
  const twins = await session.query(
    "SELECT 1 FROM sms_templates WHERE account_id = $1 AND dlt_template_id = $2 AND id <> $3 LIMIT 1",
    [owner, fields.dltTemplateId, id],
  );
  return twins.length > 0 ? { conflict: "dltTemplateId" } : undefined;
}

/** Until the transaction ends nobody else applies rules of the same account: none would see what the other writes. */
async function lockOwner(
  session: Session,
  table: "senders" | "sms_templates",
  { id, accountId }: Fields,
): Promise<string> {
  const [row] = await session.query<{ id: string }>(
    typeof accountId === "string"
      ? "SELECT id FROM accounts WHERE id = $1 FOR NO KEY UPDATE"
      : `SELECT id FROM accounts WHERE id = (SELECT account_id FROM ${table} WHERE id = $1) FOR NO KEY UPDATE`,
    [typeof accountId === "string" ? accountId : String(id)],
  );
  return row?.id ?? "";
}
