/** What comes to the port byte by byte: cut off, garbled, odd. Each is answered or closed, and the next is served. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { storedRows } from "../stored-rows.ts";
import { type Chance, createChance } from "./chance.ts";
import { oddRequests, type Pieces, requestsWithMore, smsRequest } from "./odd-requests.ts";
import { type Ending, exchange, isGivenUp, statusOf } from "./wire.ts";

const IS_LONG = process.env.POSTRIDER_LONG_TESTS === "1";
const GARBLED = IS_LONG ? 5_000 : 200;
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_122);

/** Connections at a time. */
const AT_ONCE = 32;

onBothStores(() => {
  let service: HeldPostrider;
  let pieces: Pieces;
  let whole: string;

  beforeAll(async () => {
    service = await startHeldPostrider();
    const body = JSON.stringify({ to: "+919876543210", dlt_template_id: "1107161000000000001" });
    pieces = { port: Number(new URL(service.url).port), key: service.sandbox.api_key, body };
    whole = smsRequest(pieces, [`Content-Length: ${body.length}`]);
  });

  afterAll(() => service.close());

  async function messages(): Promise<number> {
    const rows = await storedRows<{ n: number }>(service.dataFolder, "SELECT count(*) AS n FROM messages");
    return Number(rows[0]?.n);
  }

  /** Sends all of them, and gives what came back for each, in order. What was stored is what was said to be. */
  async function exchangeAll(
    all: readonly (string | readonly string[])[],
    ending: Ending = {},
  ): Promise<readonly string[]> {
    const before = await messages();
    const heard: string[] = [];
    for (let at = 0; at < all.length; at += AT_ONCE) {
      const some = all.slice(at, at + AT_ONCE);
      heard.push(...(await Promise.all(some.map((each) => exchange(pieces.port, each, ending)))));
    }
    const accepted = heard.filter((each) => statusOf(each) === 202).length;
    expect(statusOf(await exchange(pieces.port, whole))).toBe(202);
    const unheard = heard.filter((each) => isGivenUp(each) && statusOf(each) === undefined).length;
    const more = (await messages()) - before - accepted - 1;
    expect(more).toBeGreaterThanOrEqual(0);
    expect(more).toBeLessThanOrEqual(unheard);
    expect(service.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
    return heard;
  }

  test("an odd request is answered as it deserves, and nothing is stored of one that is refused", async () => {
    const odd = Object.entries(oddRequests(pieces));
    const heard = await exchangeAll(odd.map(([, [sent]]) => sent));
    const wrong = odd.flatMap(([name, [, ...right]], index) => {
      const status = statusOf(heard[index] ?? "");
      return right.includes(status) ? [] : [`${name}: ${status}, not ${right.join(" or ")}`];
    });
    expect(wrong).toEqual([]);
  }, 120_000);

  test("what comes after a request before it was answered closes the connection; the request is taken once at most", async () => {
    for (const sent of requestsWithMore(pieces)) {
      const before = await messages();
      const heard = await exchange(pieces.port, sent);
      expect([undefined, 400]).toContain(statusOf(heard));
      expect(statusOf(await exchange(pieces.port, whole))).toBe(202);
      expect((await messages()) - before - 1).toBeLessThanOrEqual(1);
    }
  });

  test("a request cut off at any byte is not taken", async () => {
    const cuts = Array.from({ length: whole.length }, (_, length) => whole.slice(0, length));
    const heard = await exchangeAll(cuts, { ends: true });
    expect(heard.map(statusOf).filter((status) => ![undefined, 400, 505].includes(status))).toEqual([]);
  }, 120_000);

  test("a request that comes a byte at a time is taken once", async () => {
    const heard = await exchangeAll([[...whole]]);
    expect(heard.map(statusOf)).toEqual([202]);
  });

  test(`a request with bytes changed, lost or doubled is answered or closed (seed ${SEED})`, async () => {
    const chance = createChance(SEED);
    const heard = await exchangeAll(
      Array.from({ length: GARBLED }, () => garbled(whole, chance)),
      { silenceMs: 500 },
    );
    const faults = heard
      .map(statusOf)
      .filter((status) => status !== undefined && status >= 500 && status !== 505);
    expect(faults).toEqual([]);
  }, 3_600_000);
});

const ODD_BYTES = [
  "\r",
  "\n",
  "\r\n",
  "\r\n\r\n",
  "\0",
  " ",
  ":",
  "\t",
  "\xff",
  "\x7f",
  "%",
  "{",
  '"',
  "0",
  "HTTP/1.1",
];

function garbled(whole: string, chance: Chance): string {
  let text = whole;
  for (let times = 1 + chance.below(4); times > 0; times--) {
    const at = chance.below(text.length);
    const to = at + chance.below(chance.is(80) ? 4 : 60);
    const ways = [
      text.slice(0, at) + text.slice(to),
      text.slice(0, to) + text.slice(at),
      text.slice(0, at) + chance.pick(ODD_BYTES) + text.slice(at),
      text.slice(0, at) + String.fromCharCode(chance.below(256)) + text.slice(at + 1),
    ];
    text = chance.pick(ways);
  }
  return text;
}
