/**
 * Small emails beside large ones: how long one takes from its request to the sink having it, with nothing else to do,
 * and while messages as large as the interface takes (10 MiB) go out all the time.
 *
 *   bun bench/email-large.ts [small ones a measurement] [large ones a second]
 */
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { send } from "../test/admin.ts";
import { startOurs } from "./mail-gateways.ts";
import { heading, ms, ratio } from "./report.ts";
import { median, percentile } from "./wrk.ts";

const SMALL = Number(process.argv[2] ?? 100);
const PER_SECOND = Number(process.argv[3] ?? 1);
const PAUSE_MS = 50;

const LINE = "All is well, and here is what we know of it, line for line.\n";
const TEXTS = { "plain text": LINE, "text to be encoded": `ä${LINE}` };

console.log(heading(`Small emails beside ${PER_SECOND} of 10 MiB a second`));
const sink = Bun.spawn([process.execPath, join(import.meta.dir, "seen-sink.ts")], {
  stdout: "pipe",
  stderr: "inherit",
});
const waiting = new Map<string, (at: number) => void>();
const seen = (key: string) => new Promise<number>((resolve) => waiting.set(key, resolve));
const port = seen("port");
createInterface(Readable.fromWeb(sink.stdout as never)).on("line", (line) => {
  const [key = "", value] = line.split(" ");
  if (key.startsWith("large")) large++;
  waiting.get(key)?.(Number(value));
  waiting.delete(key);
});

const ours = await startOurs({ relayPort: await port, isSigned: true });
let sent = 0;
let large = 0;
try {
  await latencies();
  const alone = await latencies();
  say("with nothing else to do", alone);
  for (const [name, text] of Object.entries(TEXTS)) await beside(name, text);
} finally {
  await ours.stop();
  sink.kill("SIGKILL");
}

async function beside(name: string, line: string): Promise<void> {
  const args = [ours.service.url, ours.apiKey, String(PER_SECOND), line];
  const sender = Bun.spawn([process.execPath, join(import.meta.dir, "large-emails.ts"), ...args]);
  while (large === 0) await Bun.sleep(50);
  const before = large;
  const startedAt = performance.now();
  say(`beside ${name}`, await latencies());
  const seconds = (performance.now() - startedAt) / 1_000;
  console.log(`  ${ratio((large - before) / seconds)} of them a second meanwhile`);
  sender.kill("SIGKILL");
  await sender.exited;
}

async function latencies(): Promise<readonly number[]> {
  const found: number[] = [];
  for (let n = 0; n < SMALL; n++) {
    const startedAt = performance.timeOrigin + performance.now();
    found.push((await taken()) - startedAt);
    await Bun.sleep(PAUSE_MS);
  }
  return found;
}

/** When the sink has it. */
async function taken(): Promise<number> {
  const email = `a${sent++}@example.net`;
  const at = seen(email);
  const { status } = await send(
    { url: ours.service.url, sandbox: ours.service.sandbox },
    {
      apiKey: ours.apiKey,
      path: "/v1/emails/messages",
      body: {
        from: { email: "hello@acme.example" },
        to: [{ email }],
        subject: "News",
        body_text: "All is well.",
      },
    },
  );
  if (status !== 202) throw new Error(`an email was answered ${status}`);
  return at;
}

function say(name: string, found: readonly number[]): void {
  console.log(
    `${name}: median ${ms(median(found))}, p99 ${ms(percentile(found, 0.99))}, longest ${ms(Math.max(...found))}`,
  );
}
