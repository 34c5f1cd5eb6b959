import { expect, test } from "bun:test";
import { untilCutOff } from "./cut-off.ts";

/** What a signal makes a command say, and the code that it ends with. */
async function said(undo: () => void): Promise<readonly unknown[]> {
  const heard: unknown[] = [];
  const exit = (code: number) => void heard.push(code) as never;
  const terminal = { stdout: () => {}, stderr: (text: string) => void heard.push(text), exit };
  await untilCutOff(terminal, async (onCutOff) => {
    onCutOff("nothing is left of it", undo);
    process.emit("SIGTERM", "SIGTERM");
  });
  return heard;
}

test("a signal takes back what is half done and says so, or says why it could not be taken back", async () => {
  const before = process.listenerCount("SIGTERM");
  let undone = 0;
  const undo = () => void undone++;
  expect(await said(undo)).toEqual(["error: ended by SIGTERM: nothing is left of it\n", 143]);
  expect(undone).toBe(1);
  const fail = () => {
    throw new Error("read-only file system");
  };
  const words = "error: ended by SIGTERM: it could not be taken back (read-only file system)\n";
  expect(await said(fail)).toEqual([words, 143]);
  expect(process.listenerCount("SIGTERM")).toBe(before);
});
