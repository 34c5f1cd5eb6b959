/** The SMSC of `fast-smsc.ts` in its process, and how to talk to it. */
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

export interface SmscProcess {
  readonly host: "127.0.0.1";
  readonly port: number;
  /** Resolves with the time (Unix ms) at which so many more receipts will have been acknowledged. */
  expect(receipts: number): Promise<number>;
  count(): Promise<{ readonly submits: number; readonly acknowledged: number }>;
  /** Resolves with the time (Unix ms) at which a submit_sm to this number came; it must begin with 1999. */
  seen(number: string): Promise<number>;
  stop(): void;
}

export async function startSmsc(): Promise<SmscProcess> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "fast-smsc.ts")], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  // Several may ask the same at once: each answer is for the one that has waited longest.
  const waiting = new Map<string, ((words: readonly string[]) => void)[]>();
  const answered = (key: string) =>
    new Promise<readonly string[]>((resolve) => {
      waiting.set(key, [...(waiting.get(key) ?? []), resolve]);
    });
  const port = answered("port");
  createInterface(Readable.fromWeb(child.stdout as never)).on("line", (line) => {
    const [word = "", ...words] = line.split(" ");
    const key = word === "seen" ? `seen ${words[0]}` : word;
    const [resolve, ...later] = waiting.get(key) ?? [];
    if (later.length > 0) waiting.set(key, later);
    else waiting.delete(key);
    resolve?.(words);
  });
  const ask = (line: string, key: string) => {
    const answer = answered(key);
    child.stdin.write(`${line}\n`);
    child.stdin.flush();
    return answer;
  };
  return {
    host: "127.0.0.1",
    port: Number((await port)[0]),
    expect: async (receipts) => Number((await ask(`expect ${receipts}`, "done"))[0]),
    async count() {
      const [submits, acknowledged] = (await ask("count", "count")).map(Number);
      return { submits: submits ?? 0, acknowledged: acknowledged ?? 0 };
    },
    seen: async (number) => Number((await answered(`seen ${number}`))[1]),
    stop: () => child.kill("SIGKILL"),
  };
}
