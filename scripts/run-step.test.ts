import { expect, test } from "bun:test";
import { runStep } from "./run-step.ts";

test("a command is shown with both its outputs, and judged by its exit code", async () => {
  const seen: string[] = [];
  const command = ["sh", "-c", "echo out; echo err >&2; exit 3"] as const;
  const result = await runStep({ name: "x", command, timeoutMs: 10_000 }, (text) => seen.push(text));
  expect(result.ok).toBe(false);
  expect(result.output.trim().split("\n").sort()).toEqual(["err", "out"]);
  expect(seen.join("")).toBe(result.output);
});

test("a command that does not end is killed, with all that it started", async () => {
  const command = ["sh", "-c", "sleep 600 & sleep 600"] as const;
  const result = await runStep({ name: "x", command, timeoutMs: 100 });
  expect(result.ok).toBe(false);
  expect(result.output).toContain("not done after 0.1 s");
});

test("a command that leaves a process behind ends all the same", async () => {
  const result = await runStep({ name: "x", command: ["sh", "-c", "sleep 600 &"], timeoutMs: 20_000 });
  expect(result.ok).toBe(true);
});

test("a command that does not exist fails, and says so", async () => {
  const result = await runStep({ name: "x", command: ["node_modules/.bin/no-such-tool"], timeoutMs: 10_000 });
  expect(result.ok).toBe(false);
  expect(result.output).toContain("no-such-tool");
});
