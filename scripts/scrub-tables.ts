import type { ScrubCode } from "../src/channels/sms/dlt-scrub-codes.ts";

/** A page with a table of all scrub codes. */
export function scrubCodesPage(codes: readonly ScrubCode[]): string {
  const rows = codes.map(({ code, reason, hint }) => `| \`dlt.${code}\` | ${reason} | ${hint} |`);
  const table = ["| Code | Meaning | What to do |", "|---|---|---|", ...rows].join("\n");
  return `${["# DLT scrub codes", INTRODUCTION, table].join("\n\n")}\n`;
}

const INTRODUCTION = `Generated from \`src/channels/sms/dlt-scrub-codes.ts\`. See [dlt.md](dlt.md).

When an Indian operator's scrubbing rejects a message, the message is \`failed\`, with one of these codes as \`error.code\` on the
timeline and in webhooks. Operators disagree on 611 to 616 and above 666: there the meaning may differ. The timeline also has the
original receipt (\`raw\`). If an operator uses other codes, map them in the connector's \`dlt_codes\`, for example \`{"5308": "633"}\`.
An operator that scrubs before it answers puts its code into command_status: write it as the timeline shows it (\`0x000004a1\` of \`smpp.0x000004a1\`), or in decimal.`;
