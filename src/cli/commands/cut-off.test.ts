import { expect, test } from "bun:test";
import { CommandFailure } from "./command-failure.ts";
import { type OnCutOff, untilCutOff } from "./cut-off.ts";

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

test("a database that goes away leaves what a signal would, and any other failure speaks for itself", async () => {
  const saidOf = async (work: (onCutOff: OnCutOff) => void) => {
    const heard: string[] = [];
    const terminal = {
      stdout: () => {},
      stderr: (text: string) => void heard.push(text),
      exit: () => undefined as never,
    };
    await untilCutOff(terminal, async (onCutOff) => work(onCutOff));
    return heard.join("");
  };
  const away = () => {
    throw new CommandFailure("the database is away", {}, true);
  };
  const left = "run it again";
  expect(await saidOf(away)).toBe("error: the database is away\n");
  const half = (onCutOff: OnCutOff) => onCutOff(left);
  expect(await saidOf((onCutOff) => [half(onCutOff), away()])).toBe(
    "error: the database is away; run it again\n",
  );
  const undone = (onCutOff: OnCutOff) => onCutOff(left, () => {});
  expect(await saidOf((onCutOff) => [undone(onCutOff), away()])).toBe("error: the database is away\n");
  const refused = (onCutOff: OnCutOff) => {
    half(onCutOff);
    throw new CommandFailure("the counts differ");
  };
  expect(await saidOf(refused)).toBe("error: the counts differ\n");
});
