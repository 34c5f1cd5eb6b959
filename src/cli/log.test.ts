/** Whoever reads the log stands still: a collector that hangs, a terminal that is paused. */
import { afterEach, expect, test } from "bun:test";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createLog } from "./log.ts";
import type { Output } from "./unblocked.ts";

const LINES = 60_000;

const PROGRAM = `import { createLog } from ${JSON.stringify(join(import.meta.dir, "log.ts"))};
  const log = createLog("debug");
  for (let line = 0; line < ${LINES}; line++) {
    log.debug({ line, words: "as many as there are in a line of a log, or about as many" }, "written");
    if (line % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  process.stderr.write("all are written");
  process.stdin.resume();`;

const started: ChildProcess[] = [];

afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

test("lines that nobody reads are held up to a bound, and it says how many were lost", async () => {
  const folder = mkdtempSync(join(tmpdir(), "postrider-"));
  const path = join(folder, "output");
  expect(spawnSync("sh", ["-c", 'mkfifo "$1"', "sh", path]).status).toBe(0);
  // A reader that reads nothing.
  const idle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const script = 'program="$1"; fifo="$2"; bun="$3"; exec "$bun" -e "$program" >"$fifo"';
  const child = spawn("sh", ["-c", script, "sh", PROGRAM, path, process.execPath], { stdio: "pipe" });
  started.push(child);
  expect(String((await once(child.stderr, "data"))[0])).toBe("all are written");

  const reader = spawn("cat", [path], { stdio: ["ignore", "pipe", "inherit"] });
  started.push(reader);
  let read = 0;
  let characters = 0;
  let lost = 0;
  for await (const text of createInterface({ input: reader.stdout })) {
    const line = JSON.parse(text) as { msg: string; lines?: number };
    lost = line.lines ?? 0;
    if (lost > 0) break;
    read += 1;
    characters += text.length;
  }
  expect([lost > 0, read + lost]).toEqual([true, LINES]);
  expect(characters).toBeLessThan(5 * 1024 * 1024);

  closeSync(idle);
  rmSync(folder, { recursive: true });
});

test("lines that a full disk does not take are counted, and what it took of one spoils no other", async () => {
  let written = "";
  let room = 1_000;
  const file: Output = {
    write(text, onTaken) {
      const taken = text.slice(0, room);
      written += taken;
      room -= taken.length;
      const isWhole = taken.length === text.length;
      queueMicrotask(() => onTaken?.(isWhole ? null : new Error("ENOSPC")));
    },
  };
  const log = createLog("info", file);
  const write = async (line: number) => {
    log.info({ line }, "written");
    await Promise.resolve();
  };
  for (let line = 1; line <= 30; line++) await write(line);
  // For the next line, and not for that which then tells how many were lost.
  room = 100;
  await write(31);
  room = Number.POSITIVE_INFINITY;
  await write(32);

  const lines = written.split("\n").flatMap((line) => {
    if (!line.endsWith("}")) return [];
    return [JSON.parse(line) as { line?: number; lines?: number }];
  });
  const [told, ...others] = lines.flatMap(({ lines }) => lines ?? []);
  const read = lines.flatMap(({ line }) => line ?? []);
  expect(read.slice(-2)).toEqual([31, 32]);
  expect([Number(told) + read.length, others]).toEqual([32, []]);
});

test("of a statement that the database refuses the log has the words, and not the row that the error quotes", () => {
  const program = `import { DatabaseError } from "pg";
    import { createLog } from ${JSON.stringify(join(import.meta.dir, "log.ts"))};
    const refused = new DatabaseError('violates check constraint "c"', 0, "error");
    Object.assign(refused, { code: "23514", detail: "Failing row contains (+14155550123, hidden).", where: "hidden" });
    const log = createLog("info");
    log.error({ err: refused }, "alone");
    log.error({ err: new Error("not stored", { cause: refused }) }, "as a cause");
    log.error({ err: new AggregateError([refused], "all failed") }, "among others");`;
  const { stdout } = spawnSync(process.execPath, ["-e", program], { cwd: import.meta.dir, encoding: "utf8" });
  const [alone, cause, among] = stdout.trim().split("\n");
  expect(JSON.parse(alone ?? "").err).toMatchObject({
    type: "DatabaseError",
    message: 'violates check constraint "c"',
    code: "23514",
  });
  expect(JSON.parse(cause ?? "").err.stack).toContain('violates check constraint "c"');
  expect(JSON.parse(among ?? "").err.errors).toMatchObject([{ message: 'violates check constraint "c"' }]);
  expect(stdout).not.toMatch(/hidden|4155550123/);
});
