import type { Row } from "./command-line.ts";

/** The records as lines of a zone file. */
export function dnsRecordsText(records: readonly Row[]): string {
  const lines = records.map(({ zone, role }) => `${zone}${ROLE_COMMENTS[String(role)] ?? ""}`);
  return `\n${lines.join("\n")}\n`;
}

const ROLE_COMMENTS: Readonly<Record<string, string>> = {
  next: " ; the next key: signs once this is seen",
  retiring: " ; an old key: remove it when it is no longer listed",
  advised: " ; advised, if there is none yet",
};
