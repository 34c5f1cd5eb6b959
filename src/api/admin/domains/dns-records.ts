/** A domain's DNS records as the admin API shows them. */
import Type from "typebox";
import {
  DNS_TYPES,
  type DnsRecord,
  RECORD_PURPOSES,
  RECORD_ROLES,
  zoneLine,
} from "../../../core/domains/domain-records.ts";

export const dnsRecordFields = {
  purpose: Type.Enum(RECORD_PURPOSES),
  role: Type.Enum(RECORD_ROLES, {
    description: "`next`: of keys that sign once it is seen; `retiring`: of keys that no longer do",
  }),
  type: Type.Enum(DNS_TYPES),
  name: Type.String(),
  value: Type.String(),
  strings: Type.Optional(
    Type.Array(Type.String(), { description: "TXT: the value in strings of at most 255" }),
  ),
  zone: Type.String({ description: "The record as a line of a zone file" }),
};

export function shownDnsRecord(record: DnsRecord) {
  return { ...record, zone: zoneLine(record) };
}
