import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type PostriderProcess, startPostrider } from "./postrider-process.ts";
import { type Ran, ran } from "./ran.ts";

const EXAMPLES = join(import.meta.dir, "../examples");

let service: PostriderProcess;

beforeAll(async () => {
  service = await startPostrider();
});

afterAll(async () => {
  service.kill("SIGTERM");
  await service.exited;
});

test("the example for continuous integration passes on a sandbox as it comes", async () => {
  const { code, out, err } = await run("assert-in-ci.ts", join(service.dataFolder, "sandbox.json"));
  expect([code, err]).toEqual([0, ""]);
  expect(out.trim().split("\n")).toEqual([
    "ok codeArrivesInOneSegment",
    "ok wrongNumberIsUndelivered",
    "ok unknownMailboxBounces",
  ]);
});

async function run(example: string, ...args: string[]): Promise<Ran> {
  const child = Bun.spawn([process.execPath, join(EXAMPLES, example), ...args], {
    stdout: "pipe",
    stderr: "pipe",
  });
  return ran(child);
}
