/** Drives Debian's `wrk` and reads what it measured. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Load {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** Lua; must define `request`. */
  readonly script: string;
}

export interface Measured {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers other than 2xx, and connections that failed. */
  readonly errors: number;
}

const REPORT = `
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format("RESULT %f %f %f %d\\n", summary.requests / (summary.duration / 1000000),
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, e.connect + e.read + e.write + e.status + e.timeout))
end
`;

export function requireWrk(): void {
  if (Bun.which("wrk")) return;
  console.error(
    "this benchmark drives its load with wrk, which is not installed (Debian: apt-get install wrk)",
  );
  process.exit(1);
}

export async function measure(load: Load): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "postrider-bench-"));
  try {
    const path = join(folder, "load.lua");
    writeFileSync(path, load.script + REPORT);
    return await runWrk(load, path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function runWrk({ connections, seconds, url }: Load, path: string): Promise<Measured> {
  const run = Bun.spawn(
    ["wrk", "-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "30s", "-s", path, url],
    { stdout: "pipe", stderr: "pipe" },
  );
  const text = await new Response(run.stdout).text();
  const found = /RESULT (\S+) (\S+) (\S+) (\d+)/.exec(text);
  if (!found) throw new Error(`wrk said:\n${text}${await new Response(run.stderr).text()}`);
  const [perSecond = 0, p50Ms = 0, p99Ms = 0, errors = 0] = found.slice(1).map(Number);
  return { perSecond, p50Ms, p99Ms, errors };
}

/** A POST of `body` with a new idempotency key each time. */
export function postScript(options: {
  path: string;
  key: string;
  body: string;
  idempotent: boolean;
}): string {
  const idempotency = options.idempotent
    ? `headers["Idempotency-Key"] = string.format("%08x-%08x", seed, n)`
    : "";
  return `
local n = 0
math.randomseed(os.time() + tonumber(tostring({}):sub(8), 16) % 100000)
local seed = math.random(0, 0x7fffffff)
local body = [==[${options.body}]==]
local headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer ${options.key}" }
request = function()
  n = n + 1
  ${idempotency}
  return wrk.format("POST", "${options.path}", headers, body)
end
`;
}

export function getScript(options: { paths: readonly string[]; key: string }): string {
  const paths = options.paths.map((path) => `"${path}"`).join(",");
  return `
local n = 0
local paths = {${paths}}
local headers = { ["Authorization"] = "Bearer ${options.key}" }
request = function()
  n = n + 1
  return wrk.format("GET", paths[n % #paths + 1], headers)
end
`;
}

export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error("nothing was measured: rounds and seconds are given as numbers");
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] =
    sorted.length % 2 ? [sorted[middle], sorted[middle]] : [sorted[middle - 1], sorted[middle]];
  return (low + high) / 2;
}

/** @param part from 0 to 1 */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
