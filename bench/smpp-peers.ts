/**
 * Our SMPP before peers that others wrote: Debian's libnet-smpp-perl as the SMSC, and tshark's dissector over what went
 * over the wire. `bun bench/smpp-peers.ts`; needs `apt-get install libnet-smpp-perl tshark`, and leave to capture on
 * the loopback. What is missing is said and left out. The exit code is 1 if something that ran did not hold.
 */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Channel } from "../src/channels/channel.ts";
import { openSmppChannel } from "../src/channels/sms/smpp/smpp-channel.ts";
import { createSystemClock } from "../src/cli/system-clock.ts";
import type { Receipt } from "../src/core/messages/outcome.ts";
import { decodeGsm7 } from "../src/core/sms/gsm7.ts";
import { channelDeps } from "../test/fakes/channel-deps.ts";
import { createSignals } from "../test/fakes/signals.ts";
import { outgoingSms, sendThrough } from "../test/fakes/smpp-rig.ts";
import { heading } from "./report.ts";

const LIMIT_MS = 20_000;

const DLT = { dltEntityId: "1101172974420810001", dltTemplateId: "1107160000000000077" };
const LATIN = "Your parcel {42} is here, come & get it. ".repeat(6);
const INDIC = "आपका पार्सल आ गया है 😀 ".repeat(8);

/** Each a connector's configuration, and the texts sent through it. */
const STORIES: readonly { name: string; config: Record<string, unknown>; texts: readonly string[] }[] = [
  {
    name: "transceiver, 8-bit header",
    config: { user_message_reference: true },
    texts: ["Hi €", LATIN, INDIC],
  },
  { name: "16-bit header", config: { concat: "udh16" }, texts: [LATIN, INDIC] },
  { name: "SAR parameters", config: { concat: "sar" }, texts: [LATIN, INDIC] },
  {
    name: "message_payload, chain hash",
    config: { concat: "payload", dlt_chain_ids: ["entity"] },
    texts: [LATIN, INDIC],
  },
  { name: "ASCII, two binds", config: { default_alphabet: "ascii", binds: 2 }, texts: ["Hi [you]", LATIN] },
  { name: "query_sm", config: { query_sm: true }, texts: ["Hi"] },
];

let failures = 0;

async function main(): Promise<void> {
  say(heading("SMPP before other people's peers"));
  const perl = spawnSync("perl", ["-MNet::SMPP", "-e", "print $Net::SMPP::VERSION"], { encoding: "utf8" });
  if (perl.status !== 0) return say("not run: there is no Net::SMPP (apt-get install libnet-smpp-perl)");
  say(`SMSC: Net::SMPP ${perl.stdout}`);
  const smsc = await startSmsc();
  const folder = mkdtempSync(join(tmpdir(), "smpp-peers-"));
  const capture = await startCapture(smsc.port, join(folder, "smpp.pcapng"));
  try {
    for (const story of STORIES) await tell(story, smsc);
    if (capture) await dissect(capture, smsc.port);
  } finally {
    smsc.stop();
    capture?.process.kill("SIGINT");
    rmSync(folder, { recursive: true, force: true });
  }
  say(failures === 0 ? "all that was run held" : `${failures} did not hold`);
  process.exitCode = failures === 0 ? 0 : 1;
}

// ---------------------------------------------------------------- the SMSC

interface Smsc {
  readonly port: number;
  readonly lines: string[];
  readonly until: (isSo: () => boolean) => Promise<void>;
  stop(): void;
}

async function startSmsc(): Promise<Smsc> {
  const child = spawn("perl", [join(import.meta.dirname, "net-smpp-smsc.pl")], {
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  const lines: string[] = [];
  const signals = createSignals();
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    signals.tell();
  });
  await within(
    signals.until(() => lines.length > 0),
    "the SMSC did not start",
  );
  // Its children serve the connections: they go with their group.
  const stop = () => void (child.pid && process.kill(-child.pid));
  return { port: Number(lines.shift()), lines, until: signals.until, stop };
}

async function tell({ name, config, texts }: (typeof STORIES)[number], smsc: Smsc): Promise<void> {
  const receipts: Receipt[] = [];
  const signals = createSignals();
  const channel = openChannel(smsc.port, config, { receipts, tell: signals.tell });
  channel.start();
  await within(
    signals.until(() => channel.status().state === "up"),
    `${name}: no bind`,
  );
  for (const text of texts) {
    smsc.lines.length = 0;
    receipts.length = 0;
    const outcome = await sendThrough(channel, outgoingSms({ text, content: DLT }));
    const ids = outcome.parts.flatMap((part) => (part?.kind === "sent" ? part.providerMessageIds : []));
    const count = outcome.parts.length;
    await within(
      Promise.all([
        signals.until(() => receipts.length >= count),
        smsc.until(() => smsc.lines.length >= count),
      ]),
      `${name}: ${receipts.length} of ${count} receipts`,
    );
    const isAscii = config.default_alphabet === "ascii";
    check(
      `${name}: ${count} submit_sm, text as sent`,
      smsc.lines.map((line) => textOf(line, isAscii)).join("") === text,
    );
    check(`${name}: DLT ids on each`, smsc.lines.every(hasDltIds));
    check(
      `${name}: receipts match`,
      receipts.every((r) => r.status === "delivered" && ids.includes(r.providerMessageId)),
    );
    const asked = ids.map((providerMessageId) => ({ providerMessageId, from: "PSTRDR" }));
    const answers = await channel.query?.(asked, AbortSignal.timeout(LIMIT_MS));
    if (answers) check(`${name}: it is asked and answers`, answers[0]?.status === "delivered");
  }
  await channel.stop();
}

function openChannel(
  port: number,
  config: Record<string, unknown>,
  into: { receipts: Receipt[]; tell: () => void },
): Channel {
  const connector = {
    id: "c1",
    name: "perl",
    kind: "smpp",
    config: { host: "127.0.0.1", port, system_id: "rider", ...config },
    secrets: { password: "secret" },
    isEnabled: true,
    createdAt: 0,
  };
  const deps = channelDeps({
    clock: createSystemClock(),
    random: Math.random,
    onStatus: into.tell,
    async onReceipts(batch) {
      into.receipts.push(...batch);
      into.tell();
    },
  });
  return openSmppChannel(connector, deps);
}

/** The words of one submit_sm as the SMSC saw them, its header left out. */
function textOf(line: string, isAscii: boolean): string {
  const [dataCoding, esmClass, , , hex = ""] = line.split(" ");
  const octets = Buffer.from(hex === "-" ? "" : hex, "hex");
  const text = Number(esmClass) & 0x40 ? octets.subarray(1 + (octets[0] ?? 0)) : octets;
  if (dataCoding === "8") return new TextDecoder("utf-16be").decode(text);
  return isAscii ? text.toString("latin1") : decodeGsm7(text);
}

function hasDltIds(line: string): boolean {
  const hex = (text: string) => Buffer.from(text).toString("hex");
  return line.includes(`1400=${hex(DLT.dltEntityId)}`) && line.includes(`1401=${hex(DLT.dltTemplateId)}`);
}

// ---------------------------------------------------------------- the wire

interface Capture {
  readonly process: ChildProcess;
  readonly file: string;
}

async function startCapture(port: number, file: string): Promise<Capture | undefined> {
  const version = spawnSync("tshark", ["--version"], { encoding: "utf8" });
  if (version.status !== 0) return void say("not run: there is no tshark (apt-get install tshark)");
  const child = spawn("tshark", ["-i", "lo", "-f", `tcp port ${port}`, "-w", file, "-q"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said: string[] = [];
  const signals = createSignals();
  let isOver = false;
  createInterface({ input: child.stderr }).on("line", (line) => {
    said.push(line);
    signals.tell();
  });
  child.on("exit", () => {
    isOver = true;
    signals.tell();
  });
  await within(
    signals.until(() => isOver || said.some((line) => line.startsWith("Capturing"))),
    "no capture",
  );
  if (isOver) return void say(`not run: tshark cannot capture here: ${said.at(-1)}`);
  // It says so a little before it does so.
  await Bun.sleep(1000);
  say(`dissector: ${version.stdout.split("\n")[0]}`);
  return { process: child, file };
}

async function dissect({ process: child, file }: Capture, port: number): Promise<void> {
  await Bun.sleep(1000);
  const ended = new Promise((resolve) => child.on("exit", resolve));
  child.kill("SIGINT");
  await within(ended, "the capture did not end");
  const frames = (filter: string, ...more: string[]) => {
    const args = ["-r", file, "-d", `tcp.port==${port},smpp`, "-Y", filter, ...more];
    const { status, stdout, stderr } = spawnSync("tshark", args, { encoding: "utf8" });
    if (status !== 0) throw new Error(`tshark: ${stderr}`);
    return stdout.split("\n").filter((line) => line !== "");
  };
  const commands = frames(`smpp && tcp.dstport==${port}`, "-T", "fields", "-e", "smpp.command_id").flatMap(
    (l) => l.split(","),
  );
  check(`tshark reads ${commands.length} PDUs of ours: ${tally(commands)}`, commands.length > 20);
  const malformed = frames(`tcp.dstport==${port} && (_ws.malformed || _ws.expert.severity==error)`);
  check(`tshark finds ${malformed.length} malformed frames of ours`, malformed.length === 0);
  for (const frame of malformed.slice(0, 5)) say(`  ${frame}`);
}

function tally(values: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([value, count]) => `${value} × ${count}`).join(", ");
}

// ---------------------------------------------------------------- saying so

function check(what: string, holds: boolean): void {
  if (!holds) failures++;
  say(`${holds ? "ok  " : "FAIL"} ${what}`);
}

function within<T>(promise: Promise<T>, otherwise: string): Promise<T> {
  const late = Bun.sleep(LIMIT_MS).then(() => Promise.reject(new Error(otherwise)));
  return Promise.race([promise, late]);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exit(1);
  },
);
