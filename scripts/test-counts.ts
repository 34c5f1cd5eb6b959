export interface TestCounts {
  readonly passed: number;
  /** Tests that failed, and files that could not be run. */
  readonly failed: number;
  /** Skipped and todo. */
  readonly skipped: number;
}

/** Only so many characters at the end are searched: tests may print anything before the summary. */
const SUMMARY_LENGTH = 2_000;

/** Reads the summary at the end of `bun test`'s output; `undefined` if the run did not finish. */
export function parseTestCounts(output: string): TestCounts | undefined {
  const end = output.slice(-SUMMARY_LENGTH);
  if (!/^Ran \d+ tests? across/m.test(end)) return undefined;
  const passed = countOf(end, "pass");
  const failed = countOf(end, "fail");
  if (passed === undefined || failed === undefined) return undefined;
  return { passed, failed, skipped: (countOf(end, "skip") ?? 0) + (countOf(end, "todo") ?? 0) };
}

/** The last line of the form ` 12 pass`. */
function countOf(summary: string, word: string): number | undefined {
  const lines = [...summary.matchAll(new RegExp(`^\\s*(\\d+) ${word}$`, "gm"))];
  const last = lines.at(-1)?.[1];
  return last === undefined ? undefined : Number(last);
}
