/**
 * `npm run generate` writes the files that are generated from the program's own tables. With `--check` nothing is written,
 * and a file that is not up to date is an error.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { DLT_SCRUB_CODES } from "../src/channels/sms/dlt-scrub-codes.ts";
import { CONNECTOR_KINDS } from "../src/cli/channels.ts";
import { EMAIL_MEANINGS, EMAIL_MOVES } from "../src/core/email/email-status.ts";
import { RETRY_POLICIES } from "../src/core/queue/retry-policy.ts";
import { SETTINGS } from "../src/core/records/settings.ts";
import { SMS_MEANINGS, SMS_MOVES } from "../src/core/sms/sms-status.ts";
import { connectorsPage } from "./connector-tables.ts";
import { lifeCyclesPage } from "./life-cycles.ts";
import { retriesSection } from "./retry-tables.ts";
import { scrubCodesPage } from "./scrub-tables.ts";
import { settingsPage } from "./setting-tables.ts";

interface GeneratedFile {
  readonly file: string;
  /** The whole text. The same source always makes the same text. */
  make(): string;
}

/** To generate another file, add a row. */
const GENERATED: readonly GeneratedFile[] = [
  { file: "docs/statuses.md", make: statusesPage },
  { file: "docs/settings.md", make: () => settingsPage(SETTINGS) },
  { file: "docs/dlt-codes.md", make: () => scrubCodesPage(DLT_SCRUB_CODES) },
  { file: "docs/connectors.md", make: () => connectorsPage(CONNECTOR_KINDS) },
];

const STARTS = ["queued", "scheduled"];

function main(isCheck: boolean): void {
  for (const { file, make } of GENERATED) {
    const made = make();
    const stored = read(file);
    if (stored === made) continue;
    if (isCheck) complain(file, made, stored);
    else writeFileSync(file, made);
  }
}

function statusesPage(): string {
  const cycles = lifeCyclesPage("Statuses of a message", [
    {
      title: "SMS",
      source: "src/core/sms/sms-status.ts",
      moves: SMS_MOVES,
      meanings: SMS_MEANINGS,
      starts: STARTS,
    },
    {
      title: "Email",
      source: "src/core/email/email-status.ts",
      moves: EMAIL_MOVES,
      meanings: EMAIL_MEANINGS,
      starts: STARTS,
    },
  ]);
  return `${cycles}\n${retriesSection(RETRY_POLICIES)}`;
}

function complain(file: string, made: string, stored: string | undefined): void {
  process.exitCode = 1;
  if (stored === undefined) {
    console.log(`${file}:1 is missing; run \`npm run generate\``);
    return;
  }
  const madeLines = made.split("\n");
  const storedLines = stored.split("\n");
  // The texts differ, so one of the lines does.
  let at = 0;
  while (madeLines[at] === storedLines[at]) at++;
  console.log(`${file}:${at + 1} is not up to date; run \`npm run generate\``);
  console.log(`  is:        ${storedLines[at] ?? "(nothing)"}\n  should be: ${madeLines[at] ?? "(nothing)"}`);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

main(process.argv.includes("--check"));
