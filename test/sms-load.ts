/** Clients that send SMS through failures, and a check that each message arrived once. */
import { expect } from "bun:test";
import type { FakeSmsc } from "./fakes/fake-smsc.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "./live-sms.ts";
import type { PostriderProcess } from "./postrider-process.ts";
import { until } from "./until.ts";

const CLIENTS = 4;
/** Messages looked up at a time. */
const AT_ONCE = 50;
/** Between one message of a client and its next while no number of them is waited for: they would only be more to send. */
const REST_MS = 100;
/** Another server may have to take over first. */
const PATIENCE = { withinMs: 100_000, pauseMs: 100 };
const FINAL = new Set(["delivered", "undelivered", "failed", "expired"]);

/** Checks that every message answered with 202 exists once and arrives, and was sent once, unless its timeline says why it was sent again. */
export async function expectAllArrived({ accepted, service, smsc, live }: SmsLoad): Promise<void> {
  expect(new Set(accepted.values()).size).toBe(accepted.size);
  const submitted = new Map(smsc.submits.map((submit) => [`+${submit.destination.address}`, submit]));
  const arrives = async ([to, id]: readonly [string, string]) => {
    // A receipt that could not be stored was refused, and an SMSC sends it again.
    const repeat = async () => void (await smsc.sendReceipt(submitted.get(to)!));
    await reachesItsEnd(`${service.url}/v1/sms/messages/${id}`, { apiKey: live.apiKey, repeat });
  };
  const all = accepted.entries();
  const next = async () => {
    for (const each of all) await arrives(each);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  const left = Map.groupBy(smsc.submits, ({ destination }) => `+${destination.address}`);
  for (const [to, id] of accepted) {
    const times = left.get(to)?.length;
    if (times !== 1) expect([to, times, await kindsOf(live, id)]).toEqual([to, 2, INTERRUPTED]);
  }
  expect(left.size).toBe(accepted.size);
}

/** A message that was on the wire when something failed may be sent again; its timeline says so. */
const INTERRUPTED = expect.arrayContaining(["interrupted"]);

async function kindsOf(live: LiveSms, id: string): Promise<readonly string[]> {
  const entries = await live.timeline({ apiKey: live.apiKey, path: `/v1/sms/messages/${id}` });
  return entries.map(({ kind }) => kind);
}

async function reachesItsEnd(
  url: string,
  { apiKey, repeat }: { apiKey: string; repeat: () => Promise<void> },
): Promise<void> {
  let looks = 0;
  const look = async () => {
    const response = await fetch(url, { headers: { Authorization: `Bearer ${apiKey}` } });
    expect([url, response.status]).toEqual([url, 200]);
    const { status } = (await response.json()) as { status: string };
    if (status === "sent" && ++looks % 10 === 0) await repeat();
    return status;
  };
  const end = await until(look, (status) => FINAL.has(status), { withinMs: 100_000, pauseMs: 50 });
  expect([url, end]).toEqual([url, "delivered"]);
}

/**
 * Clients that post message after message, each with a key of its own, until it is answered 202. They go over two binds to
 * the SMSC, on which an answer that is lost is not waited for long.
 */
export async function startLoad(service: PostriderProcess, smsc: FakeSmsc) {
  const connector = await connectSmsc(service, smsc, { response_timeout_ms: 2_000, binds: 2 });
  const live = await openLiveSms(service, { connectors: [connector] });
  return { service, smsc, live, ...runClients(service, live) };
}

export type SmsLoad = Awaited<ReturnType<typeof startLoad>>;

function runClients({ url }: PostriderProcess, { apiKey, templateId }: LiveSms) {
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
    // A client would take any other answer as final.
    expect([[409, 503].includes(response.status), text]).toEqual([true, text]);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    return undefined;
  };
  const client = async () => {
    while (!isStopping) {
      const to = `+44${7_700_900_000 + next++}`;
      accepted.set(to, String(await until(() => post(to), Boolean, PATIENCE)));
      for (const each of waiting) if (accepted.size >= each.at) each.resolve();
      if (waiting.size === 0) await Bun.sleep(REST_MS);
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  return {
    accepted,
    /** Resolves when so many more have been accepted, as fast as they can be. */
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
