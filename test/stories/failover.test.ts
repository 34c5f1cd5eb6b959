/**
 * The server that takes writes dies with everything on it, under load, and its standby takes over: again and again.
 * Nothing that was answered 202 is lost, and nothing leaves twice.
 */
import { afterEach, expect, test } from "bun:test";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";
import { type PostgresPair, startPair } from "../postgres-pair.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";

const IS_LONG = process.env.POSTRIDER_LONG_TESTS === "1";
const KILLS = IS_LONG ? 50 : 3;
const CLIENTS = 4;
/** Messages asked after at a time. */
const AT_ONCE = 50;
const FINAL = new Set(["delivered", "undelivered", "failed", "expired"]);

const folder = makeDataFolder();
let pair: PostgresPair | undefined;
let smsc: FakeSmsc | undefined;
let service: PostriderProcess | undefined;

afterEach(async () => {
  service?.kill("SIGKILL");
  await service?.exited;
  await smsc?.close();
  await pair?.close();
  folder.remove();
});

test(
  `over ${KILLS} failovers under load every message that was answered 202 exists once, arrives, and leaves once`,
  async () => {
    pair = await startPair();
    smsc = await startFakeSmsc({ receipts: "after" });
    service = await startPostrider({ dataFolder: folder.path, databaseUrl: pair.url });
    const connector = await connectSmsc(service, smsc, { response_timeout_ms: 2_000, binds: 2 });
    const live = await openLiveSms(service, { connectors: [connector] });
    const load = startLoad(service, live);
    for (let kill = 0; kill < KILLS; kill++) {
      await load.more(40 + Math.floor(Math.random() * 100));
      await pair.killPrimary();
      await pair.promote();
      // Before there is a standby again: the process has found the new primary by itself.
      await load.more(20);
      await pair.rejoin();
    }
    await load.stop();

    expect(new Set(load.accepted.values()).size).toBe(load.accepted.size);
    const submitted = new Map(smsc.submits.map((submit) => [`+${submit.destination.address}`, submit]));
    const arrives = async ([to, id]: readonly [string, string]) => {
      // What could not be stored was refused for now, and an SMSC tries again.
      const repeat = async () => void (await smsc?.sendReceipt(submitted.get(to)!));
      await reachesItsEnd(`${service?.url}/v1/sms/messages/${id}`, { apiKey: live.apiKey, repeat });
    };
    const all = [...load.accepted];
    while (all.length > 0) await Promise.all(all.splice(0, AT_ONCE).map(arrives));
    const left = Map.groupBy(smsc.submits, ({ destination }) => `+${destination.address}`);
    for (const [to, id] of load.accepted) {
      const times = left.get(to)?.length;
      if (times !== 1) expect([to, times, await kindsOf(live, id)]).toEqual([to, 2, INTERRUPTED]);
    }
    expect(left.size).toBe(load.accepted.size);
    service.kill("SIGTERM");
    expect(await service.exited).toBe(0);
  },
  IS_LONG ? 3_600_000 : 240_000,
);

/** What is on the wire when nobody can say what became of it may leave again; its history says so. */
const INTERRUPTED = expect.arrayContaining(["interrupted"]);

async function kindsOf(live: LiveSms, id: string): Promise<readonly string[]> {
  const entries = await live.timeline({ apiKey: live.apiKey, path: `/v1/sms/messages/${id}` });
  return entries.map(({ kind }) => kind);
}

async function reachesItsEnd(
  url: string,
  { apiKey, repeat }: { apiKey: string; repeat: () => Promise<void> },
): Promise<void> {
  for (let looks = 1; ; looks++) {
    const response = await fetch(url, { headers: { Authorization: `Bearer ${apiKey}` } });
    expect([url, response.status]).toEqual([url, 200]);
    const { status } = (await response.json()) as { status: string };
    if (FINAL.has(status)) return expect([url, status]).toEqual([url, "delivered"]);
    if (status === "sent" && looks % 10 === 0) await repeat();
    await Bun.sleep(50);
  }
}

/** Clients that post message after message, each with a key of its own, until it is answered 202. */
function startLoad({ url }: PostriderProcess, { apiKey, templateId }: LiveSms) {
  const accepted = new Map<string, string>();
  const waiting = new Set<{ readonly at: number; readonly resolve: () => void }>();
  let isStopping = false;
  let next = 0;

  const post = async (to: string) => {
    const response = await fetch(`${url}/v1/sms/messages`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${apiKey}`,
        "Content-Type": "application/json",
        "Idempotency-Key": to,
      },
      body: JSON.stringify({ to, template_id: templateId }),
    });
    const text = await response.text();
    if (response.status === 202) return (JSON.parse(text) as { message_id: string }).message_id;
    // Anything else would be a refusal that a client takes for final.
    expect([[409, 503].includes(response.status), text]).toEqual([true, text]);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    return undefined;
  };
  const untilAccepted = async (to: string): Promise<string> => {
    for (;;) {
      const id = await post(to);
      if (id !== undefined) return id;
      await Bun.sleep(100);
    }
  };
  const client = async () => {
    while (!isStopping) {
      const to = `+44${7_700_900_000 + next++}`;
      accepted.set(to, await untilAccepted(to));
      for (const each of waiting) if (accepted.size >= each.at) each.resolve();
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  return {
    accepted,
    /** Resolves when so many more have been accepted. */
    async more(count: number) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const each = { at: accepted.size + count, resolve };
      waiting.add(each);
      await Promise.race([promise, clients]);
      waiting.delete(each);
    },
    async stop() {
      isStopping = true;
      await clients;
    },
  };
}
