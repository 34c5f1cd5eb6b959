/** Options of inbound numbers and opt-outs. */
import type { OptionRow } from "./option-rows.ts";

export const INBOUND_NUMBER: OptionRow = {
  flags: "--number <number>",
  field: "number",
  meaning: "the number or short code handsets write to",
};

export const CONNECTOR: OptionRow = {
  flags: "--connector <id>",
  field: "connector_id",
  meaning: "through which connector for SMS it comes; none: any",
};

export const RECIPIENT: OptionRow = {
  flags: "--recipient <number>",
  field: "recipient",
  meaning: "the number that gets no SMS, in E.164",
};

export const SENDER: OptionRow = {
  flags: "--sender <sender>",
  field: "sender",
  meaning: "from this sender; none: from any of the account",
};

export const REASON: OptionRow = { flags: "--reason <text>", field: "reason", meaning: "why" };
