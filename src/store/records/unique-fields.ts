import type { RecordKind, RecordTypes } from "../../core/records/accounts.ts";

/** Fields by which, together, an index of either engine finds one record, or a few. */
const UNIQUE: { readonly [K in RecordKind]?: readonly (keyof RecordTypes[K])[] } = {
  smsTemplates: ["accountId", "dltTemplateId"],
  dltEntities: ["accountId", "entityId"],
  domains: ["accountId", "domain"],
  contacts: ["accountId", "externalId"],
  suppressions: ["accountId", "email"],
  optOuts: ["accountId", "recipient"],
  inboundNumbers: ["connectorId"],
};

/** Whether there are only a few records with these fields, which an index finds. */
export function isUnique(kind: RecordKind, fields: object): boolean {
  const unique: readonly string[] | undefined = UNIQUE[kind];
  return unique?.every((field) => field in fields) ?? false;
}
