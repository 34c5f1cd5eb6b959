import type { RecordKind } from "../../../core/records/accounts.ts";
import type { Fields } from "../../records/record-values.ts";
import type { Conflict } from "../../store.ts";
import type { Database } from "../database/database.ts";

/**
 * Rules among the records of one account that no index enforces. For use inside the transaction that writes. For an
 * update, `fields` holds the changes and the id.
 */
export interface AccountRules {
  /** Before the write: refuses a DLT template id that another template of the account has. */
  refuse(kind: RecordKind, fields: Fields): Conflict | undefined;
  /** After the write: if the sender became the default, the previous one no longer is. */
  keep(kind: RecordKind, fields: Fields): void;
}

export function createAccountRules(db: Database): AccountRules {
  return {
    refuse(kind, { id, accountId, dltTemplateId }) {
      if (kind !== "smsTemplates" || typeof dltTemplateId !== "string") return undefined;
      const twin = db
        .prepare(TWIN_TEMPLATE)
        .get(typeof accountId === "string" ? accountId : null, String(id), dltTemplateId);
      return twin === undefined ? undefined : { conflict: "dltTemplateId" };
    },
    keep(kind, { id, isDefault }) {
      if (kind === "senders" && isDefault === true) db.prepare(UNSET_OTHER_DEFAULT).run(String(id));
    },
  };
}

/** ?1: the account, or NULL for the template's own; ?2: the template's id; ?3: the DLT template id. */
const TWIN_TEMPLATE = `SELECT 1 FROM sms_templates
  WHERE account_id = coalesce(?1, (SELECT account_id FROM sms_templates WHERE id = ?2))
    AND dlt_template_id = ?3 AND id <> ?2`;

const UNSET_OTHER_DEFAULT = `UPDATE senders SET is_default = 0
  WHERE account_id = (SELECT account_id FROM senders WHERE id = ?1) AND is_default = 1 AND id <> ?1`;
