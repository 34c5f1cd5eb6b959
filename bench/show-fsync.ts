/**
 * Shows that a 202 is on disk: runs the service under strace, sends one SMS, and prints the system calls from the
 * request's arrival to its answer. Ends with 1 if no fsync or fdatasync of the database lies between the two.
 *
 *   bun bench/show-fsync.ts
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makeDataFolder } from "../test/postrider-process.ts";

const MAIN = join(import.meta.dir, "../src/cli/main.ts");
const READS = ["read", "readv", "recvfrom", "recvmsg"];
const SYNCS = ["fsync", "fdatasync"];
const WRITES = ["write", "writev", "pwrite64", "sendto", "sendmsg"];

const folder = makeDataFolder();
try {
  requireStrace();
  const calls = await traceOneSms(join(folder.path, "trace"));
  const isShown = show(calls);
  process.exitCode = isShown ? 0 : 1;
} finally {
  folder.remove();
}

function requireStrace(): void {
  if (Bun.which("strace")) return;
  console.log(
    "strace is not installed. It is in the package of that name: `apt-get install strace`, `dnf install strace`, `apk add strace`.",
  );
  folder.remove();
  process.exit(1);
}

/** The lines of the trace, from the one that reads the request to the one that writes its answer. */
async function traceOneSms(file: string): Promise<readonly string[]> {
  const trace = ["strace", "-f", "-yy", "-tt", "-s", "48", "-o", file];
  const calls = ["-e", `trace=${[...READS, ...SYNCS, ...WRITES].join(",")}`];
  const child = Bun.spawn([...trace, ...calls, process.execPath, MAIN, "serve", "--roles", "api"], {
    env: { PATH: process.env.PATH ?? "", POSTRIDER_DATA: join(folder.path, "data"), PORT: "0" },
    stdout: "pipe",
    stderr: "inherit",
  });
  const { url } = await readyLine(child.stdout);
  const sandbox = JSON.parse(readFileSync(join(folder.path, "data/sandbox.json"), "utf8"));
  const response = await fetch(`${url}/v1/sms/messages`, {
    method: "POST",
    headers: { Authorization: `Bearer ${sandbox.api_key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ to: "+919876543210", dlt_template_id: "1107160000000000001" }),
  });
  if (response.status !== 202) throw new Error(`answered ${response.status}: ${await response.text()}`);
  // The first word of each line is the thread's id; the process's own comes first.
  process.kill(Number.parseInt(readFileSync(file, "utf8"), 10), "SIGTERM");
  await child.exited;
  return betweenRequestAndAnswer(readFileSync(file, "utf8").split("\n"));
}

async function readyLine(output: ReadableStream<Uint8Array>): Promise<{ url: string }> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of output) {
    text += decoder.decode(chunk, { stream: true });
    const ready = text.split("\n").find((line) => line.startsWith("{") && line.endsWith('"msg":"ready"}'));
    if (ready) return JSON.parse(ready);
  }
  throw new Error(`the service did not start:\n${text}`);
}

function betweenRequestAndAnswer(lines: readonly string[]): readonly string[] {
  const from = lines.findIndex((line) => line.includes('"POST /v1/sms/messages') && isCall(line, READS));
  const to = lines.findIndex((line, index) => index > from && line.includes('"HTTP/1.1 202'));
  if (from < 0 || to < 0) throw new Error("the trace holds no request with its answer");
  return lines.slice(from, to + 1);
}

function show(lines: readonly string[]): boolean {
  const isSync = (line: string) => isCall(line, SYNCS) && line.includes("postrider.db");
  const isTold = (line: string, index: number) =>
    index === 0 || index === lines.length - 1 || isSync(line) || line.includes("postrider.db");
  for (const line of lines.filter(isTold)) console.log(isSync(line) ? `${line}   <-- on disk` : line);
  const isShown = lines.some(isSync);
  console.log(
    isShown
      ? "\nthe database was synced between the request and its 202"
      : "\nNO fsync of the database between the request and its 202",
  );
  return isShown;
}

function isCall(line: string, names: readonly string[]): boolean {
  return names.some((name) => line.includes(` ${name}(`));
}
