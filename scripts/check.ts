/**
 * `npm run check`: everything that must hold before a change may land. All steps run, whatever fails; the last
 * line is `N passed, N failed`, where a step that fails counts like a test that fails.
 */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { runStep, type Step, type StepResult } from "./run-step.ts";
import { parseTestCounts } from "./test-counts.ts";

const QUICK_TIMEOUT_MS = 5 * 60_000;
const TESTS_TIMEOUT_MS = 45 * 60_000;

const bun = process.execPath;

/** Independent of one another: several run at the same time. */
const QUICK_STEPS: readonly Step[] = [
  quick("format", tool("biome"), "format", "--max-diagnostics=none", "."),
  quick("lint", tool("biome"), "lint", "--error-on-warnings", "--max-diagnostics=none", "."),
  quick("imports", tool("biome"), "check", "--formatter-enabled=false", "--linter-enabled=false", "."),
  quick("types", tool("tsc"), "--noEmit", "-p", "."),
  quick("types of the console", tool("tsc"), "--noEmit", "-p", "src/console"),
  quick("dead code", tool("knip"), "--no-progress"),
  quick("architecture", bun, "test", "--timeout", "120000", "--only-failures", "./test/architecture.test.ts"),
  quick("duplication", tool("jscpd"), "--noTips", "src"),
  quick("generated files", bun, "scripts/generate.ts", "--check"),
];

async function main(): Promise<void> {
  process.on("SIGINT", () => process.exit(130)).on("SIGTERM", () => process.exit(143));
  const quickResults = await runAll(QUICK_STEPS, Math.min(4, availableParallelism()));
  const tests = await runTests();
  const failedSteps = quickResults.filter((result) => !result.ok).map((result) => result.name);
  const failed = tests.failed + failedSteps.length;
  if (failedSteps.length > 0) say(`\nfailed steps: ${failedSteps.join(", ")}`);
  say(`${tests.passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

/** A few at a time; each is reported when it ends. */
async function runAll(steps: readonly Step[], atOnce: number): Promise<readonly StepResult[]> {
  const waiting = [...steps];
  const results: StepResult[] = [];
  const work = async () => {
    for (let step = waiting.shift(); step; step = waiting.shift()) {
      const result = await runStep(step);
      report(result);
      results.push(result);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}

async function runTests(): Promise<{ passed: number; failed: number }> {
  say("tests …");
  const step: Step = { name: "tests", command: testCommand(), timeoutMs: TESTS_TIMEOUT_MS };
  const result = await runStep(step, (text) => process.stdout.write(text));
  const counts = parseTestCounts(result.output) ?? { passed: 0, failed: 1, skipped: 0 };
  const skipped = process.env.CI ? counts.skipped : 0;
  if (skipped > 0) say(`${skipped} skipped: in CI every test runs, and each counts as failed`);
  const counted = counts.failed + skipped;
  const failed = result.ok ? counted : Math.max(1, counted);
  say("");
  report({ ...result, ok: failed === 0, output: "" });
  return { passed: counts.passed, failed };
}

/** The command of `npm test`, run by the same binary. */
function testCommand(): [string, ...string[]] {
  const manifest: { scripts: { test: string } } = JSON.parse(readFileSync("package.json", "utf8"));
  const [program, ...args] = manifest.scripts.test.split(" ");
  if (program !== "bun") throw new Error("the test script of package.json must begin with `bun`");
  return [bun, ...args];
}

function report({ name, ok, output, seconds }: StepResult): void {
  say(`${ok ? "ok  " : "FAIL"} ${name.padEnd(20)} ${seconds.toFixed(1)} s`);
  if (!ok && output.trim() !== "") say(output.trimEnd().replace(/^/gm, "     "));
}

function quick(name: string, program: string, ...args: string[]): Step {
  return { name, command: [program, ...args], timeoutMs: QUICK_TIMEOUT_MS };
}

function tool(name: string): string {
  return `node_modules/.bin/${name}`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

main().catch((error: unknown) => {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  say("0 passed, 1 failed");
  process.exitCode = 1;
});
