import type { ScrubCode } from "../src/channels/sms/dlt-scrub-codes.ts";

/** A page with a table of all scrub codes. */
export function scrubCodesPage(codes: readonly ScrubCode[]): string {
  const rows = codes.map(({ code, reason, hint }) => `| \`dlt.${code}\` | ${reason} | ${hint} |`);
  const table = ["| Code | Meaning | What to do |", "|---|---|---|", ...rows].join("\n");
  return `${["# DLT scrub codes", INTRODUCTION, table].join("\n\n")}\n`;
}

const INTRODUCTION = `Made from \`src/channels/sms/dlt-scrub-codes.ts\`. See [dlt.md](dlt.md).

What an Indian operator's scrubbing refuses ends as \`failed\`, with one of these as \`error.code\` on the timeline and in webhooks.
Operators disagree on 611 to 616 and above 666: there the code is certain and the meaning is not. The receipt as it came stands
on the timeline (\`raw\`). An operator whose codes are other ones is told to the connector with \`dlt_codes\`, for example
\`{"5308": "633"}\`.`;
