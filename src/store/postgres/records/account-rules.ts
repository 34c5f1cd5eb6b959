import type { RecordKind } from "../../../core/records/accounts.ts";
import type { Fields } from "../../records/record-values.ts";
import type { Conflict } from "../../store.ts";
import type { Session } from "../database/driver.ts";

/**
 * If rules apply to a record with these fields, locks its account, so that transactions apply them one after the other: at the same
 * time, neither would see what the other writes. Must be called before a record of the account is locked.
 */
export async function lockForRules(session: Session, kind: RecordKind, fields: Fields): Promise<void> {
  const isRuled = setsDefault(kind, fields) || namesDltId(kind, fields);
  if (isRuled) await session.query("SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE", [owner(fields)]);
}

/**
 * Rules among the records of one account that no index enforces: refuses a DLT template id that another template has,
 * and unsets the previous default sender. For use inside the transaction that writes, after `lockForRules`.
 *
 * @param fields those to be written, the id and the account
 */
export async function applyAccountRules(
  session: Session,
  kind: RecordKind,
  fields: Fields,
): Promise<Conflict | undefined> {
  const id = String(fields.id);
  if (setsDefault(kind, fields)) {
    await session.query(
      "UPDATE senders SET is_default = false WHERE account_id = $1 AND is_default AND id <> $2",
      [owner(fields), id],
    );
  }
  if (!namesDltId(kind, fields)) return undefined;
  const twins = await session.query(
    "SELECT 1 FROM sms_templates WHERE account_id = $1 AND dlt_template_id = $2 AND id <> $3 LIMIT 1",
    [owner(fields), String(fields.dltTemplateId), id],
  );
  return twins.length > 0 ? { conflict: "dltTemplateId" } : undefined;
}

function setsDefault(kind: RecordKind, { isDefault }: Fields): boolean {
  return kind === "senders" && isDefault === true;
}

function namesDltId(kind: RecordKind, { dltTemplateId }: Fields): boolean {
  return kind === "smsTemplates" && typeof dltTemplateId === "string";
}

function owner({ accountId }: Fields): string {
  return String(accountId);
}
