/** Debian's `smtp-sink` in its process: it takes every message, keeps none, and counts. */
import { spawn } from "node:child_process";
import { freePorts, reachable } from "./ports.ts";

export interface MailSink {
  readonly port: number;
  readonly taken: () => number;
  /** Resolves with the time (Unix ms) at which so many more messages have been taken. */
  expect(messages: number): Promise<number>;
  stop(): void;
}

export async function startMailSink(): Promise<MailSink> {
  const [port = 0] = await freePorts(1);
  const asUser = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const child = spawn("smtp-sink", ["-c", ...asUser, `127.0.0.1:${port}`, "1024"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let taken = 0;
  let awaited: { readonly count: number; readonly tell: (at: number) => void } | undefined;
  const read = (chunk: Buffer) => {
    // A line a change: `sess=1 quit=0 mesg=2`, each written over the last one.
    const last = chunk.toString("latin1").lastIndexOf("mesg=");
    if (last < 0) return;
    taken = Number.parseInt(chunk.toString("latin1").slice(last + 5), 10);
    if (!awaited || taken < awaited.count) return;
    awaited.tell(performance.timeOrigin + performance.now());
    awaited = undefined;
  };
  child.stdout.on("data", read);
  child.stderr.on("data", read);
  await reachable(port);
  return {
    port,
    taken: () => taken,
    expect: (messages) =>
      new Promise((tell) => {
        awaited = { count: taken + messages, tell };
      }),
    stop: () => void child.kill("SIGKILL"),
  };
}
