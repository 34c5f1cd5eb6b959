import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { firstUuidAt } from "../../core/uuid.ts";
import { takeLifeline } from "./lifeline.ts";

const NOW = Date.UTC(2026, 0, 1);

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "postrider-lifeline-"));
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A process that lives on the folder under a name, until it is killed. */
async function startProcess(folder: string, name: string) {
  const program = `import { takeLifeline } from ${JSON.stringify(join(import.meta.dir, "lifeline.ts"))};
    globalThis.lifeline = takeLifeline(${JSON.stringify(folder)}, ${JSON.stringify(name)});
    console.log(JSON.stringify(lifeline.dead));
    process.stdin.resume();`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["pipe", "pipe", "inherit"] });
  const [said] = await once(child.stdout, "data");
  return {
    dead: JSON.parse(String(said)) as string[],
    async kill() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

test("a process that was killed is known to be dead by those that come next on its folder, and one that lives is not", () =>
  inFolder(async (folder) => {
    const one = await startProcess(folder, "one");
    const two = await startProcess(folder, "two");
    expect([one.dead, two.dead]).toEqual([[], []]);
    await one.kill();
    const three = await startProcess(folder, "three");
    // The start that heard it first may have come to nothing.
    const four = await startProcess(folder, "four");
    expect([three.dead, four.dead]).toEqual([["one"], ["one"]]);
    await Promise.all([two.kill(), three.kill(), four.kill()]);
    const last = takeLifeline(folder, "zero");
    expect(last.dead).toEqual(["two", "three", "one", "four"]);
    last.release();
    expect(takeLifeline(folder, "after").dead).toContain("zero");
  }));

test("a file that came with a copy of the folder says nothing of the process it was made by", () =>
  inFolder(async (folder) => {
    const living = await startProcess(folder, "living");
    await inFolder(async (copy) => {
      cpSync(folder, copy, { recursive: true });
      expect(readdirSync(copy)).toHaveLength(1);
      const beside = takeLifeline(copy, "beside");
      expect(beside.dead).toEqual([]);
      beside.release();
      expect(readdirSync(copy)).toHaveLength(1);
    });
    await living.kill();
  }));

test("a file that came back with a backup of the folder says nothing of a process that lives on beside it", () =>
  inFolder(async (folder) => {
    const living = await startProcess(folder, "living");
    const [file = ""] = readdirSync(folder);
    rmSync(join(folder, file));
    writeFileSync(join(folder, file), "");
    const next = takeLifeline(folder, "next");
    expect(next.dead).toEqual([]);
    next.release();
    await living.kill();
  }));

test("what is no such file does not keep others from being heard, and what a start left unfinished goes", () =>
  inFolder(async (folder) => {
    mkdirSync(join(folder, "process-a.lock"));
    writeFileSync(join(folder, "process-b.lock"), "nothing of the kind".repeat(100));
    const young = `process-${firstUuidAt(NOW - 1_000)}.new`;
    for (const file of [young, `process-${firstUuidAt(NOW - 3_600_000)}.new`])
      writeFileSync(join(folder, file), "");
    const one = firstUuidAt(NOW);
    takeLifeline(folder, one).release();
    const two = takeLifeline(folder, firstUuidAt(NOW + 1_000));
    expect(two.dead).toEqual([one]);
    expect(readdirSync(folder).filter((name) => name.endsWith(".new"))).toEqual([young]);
    two.release();
  }));

test("however many die, the words of the latest are kept", () =>
  inFolder(async (folder) => {
    for (let n = 10; n < 40; n++) takeLifeline(folder, `p${n}`).release();
    const last = takeLifeline(folder, "p99");
    expect(last.dead).toHaveLength(16);
    expect(last.dead[0]).toBe("p39");
    expect(readdirSync(folder)).toHaveLength(17);
    last.release();
  }));

test("a folder that cannot be written is said to be one", () => {
  expect(() => takeLifeline("/nowhere/at/all", "one")).toThrow("ENOENT");
});
