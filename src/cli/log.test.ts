/** Whoever reads the log stands still: a collector that hangs, a terminal that is paused. */
import { afterEach, expect, test } from "bun:test";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

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
