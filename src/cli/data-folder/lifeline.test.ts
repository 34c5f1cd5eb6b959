import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { takeLifeline } from "./lifeline.ts";

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

test("a process that was killed is known to be dead by the next on its folder, once, and one that lives is not", () =>
  inFolder(async (folder) => {
    const one = await startProcess(folder, "one");
    const two = await startProcess(folder, "two");
    expect([one.dead, two.dead]).toEqual([[], []]);
    await one.kill();
    const three = await startProcess(folder, "three");
    const four = await startProcess(folder, "four");
    expect([three.dead, four.dead]).toEqual([["one"], []]);
    await Promise.all([two.kill(), three.kill(), four.kill()]);
    expect(readdirSync(folder)).toHaveLength(3);
    const last = takeLifeline(folder, "last");
    expect(last.dead.toSorted()).toEqual(["four", "three", "two"]);
    last.release();
    expect(takeLifeline(folder, "after").dead).toEqual(["last"]);
    expect(readdirSync(folder)).toHaveLength(1);
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

test("without a folder that can be written nothing is known", () => {
  const nowhere = takeLifeline("/nowhere/at/all", "one");
  expect(nowhere.dead).toEqual([]);
  nowhere.release();
});
