/**
 * Messages through Debian's Kannel, over its HTTP interface and over opensmppbox, while one of the programs is killed under load: what
 * became of each, by us and by the SMSC behind Kannel. Nothing is lost that Kannel has kept, nothing leaves twice but what was
 * in doubt, and nothing fails. Messages of which Kannel forgets the receipts stay `sent`: they are counted.
 *
 *   bun bench/kannel-fates.ts [messages] [opensmppbox]
 *
 * Needs `apt-get install kannel`, and for SMPP the path of an opensmppbox: Debian does not package it, but its sources are with
 * Kannel's (`addons/opensmppbox` of `apt-get source kannel`). Ends with 1 where something does not hold.
 */
import { admin } from "../test/admin.ts";
import { connectSmsc, type Entry, type LiveSms, openLiveSms } from "../test/live-sms.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../test/postrider-process.ts";
import { type Box, type Boxes, startBoxes } from "./kannel-boxes.ts";
import { heading } from "./report.ts";

const MESSAGES = Number(process.argv[2] ?? 200);
const OPENSMPPBOX = process.argv[3];
const LIMIT_MS = 60_000;
/** As docs/connect-smpp.md has it for opensmppbox. */
const SMPP = { window: 100, concat: "payload" };
/** Goes out in two segments. */
const BODY = "Your order {#var#} is on its way. ".padEnd(200, "It comes today. ");

if (!Bun.which("bearerbox")) {
  console.log("NOT run: Kannel is not installed (Debian: apt-get install kannel)");
  process.exit(1);
}

interface Story {
  readonly name: string;
  readonly opensmppbox?: string;
  /** Killed twice while messages are accepted. */
  readonly kill: readonly Box[] | "ours";
  /** Kannel keeps all that it has accepted; so all of that has to reach the SMSC. */
  readonly isKept: boolean;
}

const HTTP: readonly Story[] = [
  { name: "HTTP, smsbox killed", kill: ["smsbox"], isKept: true },
  { name: "HTTP, ours killed", kill: "ours", isKept: true },
  { name: "HTTP, bearerbox killed", kill: ["bearerbox", "smsbox"], isKept: false },
];

const OVER_SMPP: readonly Omit<Story, "opensmppbox">[] = [
  { name: "SMPP, opensmppbox killed", kill: ["opensmppbox"], isKept: true },
  { name: "SMPP, ours killed", kill: "ours", isKept: true },
  { name: "SMPP, bearerbox killed", kill: ["bearerbox"], isKept: false },
];

let failures = 0;
for (const story of HTTP) await tell(story);
if (OPENSMPPBOX) for (const story of OVER_SMPP) await tell({ ...story, opensmppbox: OPENSMPPBOX });
else console.log("SMPP NOT run: name the opensmppbox to run");
process.exit(failures === 0 ? 0 : 1);

/** Ours, which may be another process after a kill. */
interface Ground {
  readonly boxes: Boxes;
  readonly live: LiveSms;
  service: PostriderProcess;
}

async function tell(story: Story): Promise<void> {
  console.log(heading(story.name));
  const folder = makeDataFolder();
  const boxes = await startBoxes(story.opensmppbox);
  const service = await startPostrider({ dataFolder: folder.path });
  const connector = story.opensmppbox
    ? await connectSmsc(service, { host: "127.0.0.1", port: boxes.port }, SMPP)
    : await connectSendsms(service, boxes.port);
  const live = await openLiveSms(service, { connectors: [connector], body: BODY });
  const ground: Ground = { boxes, live, service };
  try {
    await check(story, ground, await sendWhileKilled(story, ground));
  } finally {
    ground.service.kill("SIGKILL");
    await ground.service.exited;
    await boxes.stop();
    folder.remove();
  }
}

async function connectSendsms(service: PostriderProcess, port: number): Promise<string> {
  await admin(service, "/settings/public_url", { value: service.url }, "PUT");
  const config = { provider: "kannel", base_url: `http://127.0.0.1:${port}`, username: "postrider" };
  const body = { kind: "http", config: { ...config, password: "secret" } };
  return (await admin<{ connector_id: string }>(service, "/connectors", body)).connector_id;
}

/** Resolves with the paths of what was answered 202, by number. */
async function sendWhileKilled({ kill }: Story, ground: Ground): Promise<ReadonlyMap<string, string>> {
  const accepted = new Map<string, string>();
  for (let n = 0; accepted.size < MESSAGES; n++) {
    const to = `1415${5_000_000 + n}`;
    const sent = await ground.live.send(`+${to}`, { variables: { "1": String(n) } });
    accepted.set(to, sent.path);
    if (n === Math.floor(MESSAGES / 3) || n === Math.floor((2 * MESSAGES) / 3)) {
      if (kill === "ours") await restartOurs(ground);
      else await ground.boxes.restart(...kill);
    }
    await Bun.sleep(20);
  }
  return accepted;
}

async function restartOurs(ground: Ground): Promise<void> {
  const { url, dataFolder } = ground.service;
  ground.service.kill("SIGKILL");
  await ground.service.exited;
  ground.service = await startPostrider({ dataFolder, env: { PORT: new URL(url).port } });
}

async function check(story: Story, ground: Ground, accepted: ReadonlyMap<string, string>): Promise<void> {
  const statuses = await settled(ground, accepted);
  const left = countLeft(ground);
  const numbers = [...accepted.keys()];
  const are = (status: string) => numbers.filter((number) => statuses.get(number) === status);
  const missing = are("sent").filter((number) => !left.has(number));
  const twice = numbers.filter((number) => (left.get(number) ?? 0) > 1);
  const timelines = await Promise.all(
    twice.map((number) => ground.live.timeline({ apiKey: "", path: accepted.get(number) ?? "" })),
  );
  const unfounded = story.kill === "ours" ? [] : timelines.filter((entries) => !entries.some(isInDoubt));
  const counts = `${are("delivered").length} delivered, ${are("sent").length} sent`;
  hold(
    `all ${numbers.length} that were answered 202 have left us: ${counts}`,
    are("delivered").length + are("sent").length === numbers.length,
  );
  hold(
    "all that are delivered have reached the SMSC",
    are("delivered").every((number) => left.has(number)),
  );
  if (story.isKept) hold("so have all that are sent", missing.length === 0, `${missing.length} have not`);
  else console.log(`     ${missing.length} that Kannel had accepted have not reached the SMSC`);
  const why =
    story.kill === "ours"
      ? "since we were killed before we had the answers"
      : "each after an attempt in doubt";
  hold(`${twice.length} have left twice, ${why}`, unfounded.length === 0, `${unfounded.length} were not`);
  hold(
    "the SMSC has no others",
    [...left.keys()].every((number) => accepted.has(number)),
  );
}

/** An attempt whose answer did not come. */
function isInDoubt({ kind, status }: Entry): boolean {
  return kind === "attempt" && status === "queued";
}

/** How often each number's first segment has come to the SMSC. */
function countLeft({ boxes }: Ground): ReadonlyMap<string, number> {
  const left = new Map<string, number>();
  for (const { destination, registeredDelivery } of boxes.smsc.submits) {
    const number = destination.address.replace("+", "");
    // Kannel asks for a receipt of the first segment only.
    if (registeredDelivery) left.set(number, (left.get(number) ?? 0) + 1);
  }
  return left;
}

/** Each message's status, once all are delivered, or at the end of the limit. */
async function settled(ground: Ground, accepted: ReadonlyMap<string, string>): Promise<Map<string, string>> {
  const statuses = new Map<string, string>();
  const headers = { Authorization: `Bearer ${ground.live.apiKey}` };
  const until = performance.now() + LIMIT_MS;
  while (performance.now() < until) {
    for (const [number, path] of accepted) {
      if (statuses.get(number) === "delivered") continue;
      const message = (await (await fetch(ground.service.url + path, { headers })).json()) as {
        status: string;
      };
      statuses.set(number, message.status);
    }
    if ([...statuses.values()].every((status) => status === "delivered")) break;
    await Bun.sleep(500);
  }
  return statuses;
}

function hold(what: string, holds: boolean, found = ""): void {
  if (!holds) failures++;
  console.log(`${holds ? "ok  " : "FAIL"} ${what}${holds || !found ? "" : `: ${found}`}`);
}
