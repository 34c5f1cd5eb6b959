import { expect, test } from "bun:test";
import { lifeCyclesPage } from "./life-cycles.ts";

test("a life cycle is drawn with its starts, its moves and its ends", () => {
  const moves = { queued: ["sent"], sent: [] };
  const meanings = { queued: "waits", sent: "on its way" };
  const cycle = { title: "SMS", source: "src/core/x.ts", moves, meanings, starts: ["queued"] };
  expect(lifeCyclesPage("Statuses", [cycle])).toBe(`# Statuses

## SMS

Generated from \`src/core/x.ts\`.

\`\`\`mermaid
stateDiagram-v2
  [*] --> queued
  queued --> sent
  sent --> [*]
\`\`\`

| Status | Meaning | Next status |
|---|---|---|
| \`queued\` (start) | waits | \`sent\` |
| \`sent\` | on its way | final |
`);
});
