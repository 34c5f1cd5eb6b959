import { afterEach, expect, test } from "bun:test";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import { closeSmppRigs, openBoundSmppRig, openSmppRig } from "../../../../../test/fakes/smpp-rig.ts";
import type { ReceivedSms } from "../../../../core/inbound/inbound.ts";
import { createHandsetInbox } from "./handset-inbox.ts";
import { createInboundKeys } from "./inbound-keys.ts";

afterEach(closeSmppRigs);

const HELLO = {
  source: { ton: 1, npi: 1, address: "919876543210" },
  destination: { ton: 0, npi: 1, address: "56161" },
  shortMessage: Buffer.from("hello"),
};

const REST = { esmClass: 0, validityPeriod: "", registeredDelivery: 0, dataCoding: 0, tlvs: new Map() };

const QUIET = { info() {}, warn() {}, debug() {} };

async function openRig(onInbound?: (messages: readonly ReceivedSms[]) => Promise<void>) {
  const received: ReceivedSms[] = [];
  const deps = {
    onInbound:
      onInbound ??
      (async (messages: readonly ReceivedSms[]) => {
        received.push(...messages);
      }),
  };
  return { ...(await openBoundSmppRig({ deps })), received };
}

test("what a handset writes is handed over with the time it came", async () => {
  const { smsc, received, clock } = await openRig();
  expect(await smsc.deliver(HELLO)).toBe(0);
  expect(received).toEqual([
    {
      connectorId: "c1",
      from: "+919876543210",
      to: "56161",
      text: "hello",
      encoding: "gsm7",
      segments: 1,
      receivedAt: clock.now(),
      key: expect.any(String),
      sameSince: clock.now() - 600_000,
      hasNoId: true,
    },
  ]);
});

test("a number without a country code is one of the connector's inbound_country_code", async () => {
  const received: ReceivedSms[] = [];
  const { smsc } = await openBoundSmppRig({
    deps: { onInbound: async (messages) => void received.push(...messages) },
    config: { inbound_country_code: "1" },
  });
  const national = (address: string) => ({ ton: 2, npi: 1, address });
  await smsc.deliver({ ...HELLO, source: national("4155550199"), destination: national("4155550123") });
  expect(received).toMatchObject([{ from: "+14155550199", to: "+14155550123" }]);
});

test("a text in a data_sm arrives whole and in its alphabet (§4.7.1)", async () => {
  const { smsc, received } = await openRig();
  const text = "नमस्ते ".repeat(40);
  const payload = Buffer.from(text, "utf16le").swap16();
  const body = Buffer.concat([
    Buffer.from("\0\x01\x01919876543210\0\x00\x0156161\0", "latin1"),
    Buffer.of(0, 0, 8), // esm_class, registered_delivery, data_coding
    Buffer.of(0x04, 0x24, payload.length >> 8, payload.length & 0xff), // message_payload
    payload,
  ]);
  expect(await smsc.request(0x103, body)).toMatchObject({ commandId: 0x80000103, status: 0 });
  expect(received).toMatchObject([{ from: "+919876543210", to: "56161", text, encoding: "ucs2" }]);
});

test("a text that looks like a receipt is what the handset wrote", async () => {
  const { smsc, received, receipts } = await openRig();
  const text = "id:1 stat:DELIVRD";
  expect(await smsc.deliver({ ...HELLO, shortMessage: Buffer.from(text) })).toBe(0);
  expect(received[0]?.text).toBe(text);
  expect(receipts).toEqual([]);
});

test("a message is acknowledged only once it is stored", async () => {
  const [given, stored] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { smsc } = await openRig(() => {
    given.resolve();
    return stored.promise;
  });
  let status: number | undefined;
  const acknowledged = smsc.deliver(HELLO).then((answer) => {
    status = answer;
  });
  await given.promise;
  await smsc.request(0x15);
  expect(status).toBeUndefined();
  stored.resolve();
  await acknowledged;
  expect(status).toBe(0);
});

test("a message that cannot be stored is refused for now, and logged without its text or number", async () => {
  const { smsc, logs } = await openRig(() => Promise.reject(new Error("disk full")));
  expect(await smsc.deliver(HELLO)).toBe(0x64);
  const written = JSON.stringify(logs);
  expect(logs).toMatchObject([{ fields: { connector: "c1" } }]);
  expect(written).toContain("messages from handsets could not be stored");
  expect(written).not.toContain("hello");
  expect(written).not.toContain("9876543210");
});

test("a message that was refused for now is a repeat when it comes again: it may have been stored all the same", async () => {
  const keys: string[] = [];
  const { smsc } = await openRig(async (messages) => {
    keys.push(...messages.map(({ key }) => key));
    if (keys.length === 1) throw new Error("the answer of the database was lost");
  });
  expect(await smsc.deliver(HELLO)).toBe(0x64);
  expect(await smsc.deliver(HELLO)).toBe(0);
  expect(keys[1]).toBe(keys[0]!);
});

test("a message that was refused for now is a repeat with its own key also where an earlier message has the same words", async () => {
  const keys: string[] = [];
  const { smsc } = await openRig(async (messages) => {
    keys.push(...messages.map(({ key }) => key));
    if (keys.length === 2) throw new Error("the answer of the database was lost");
  });
  for (const status of [0, 0x64, 0, 0]) expect(await smsc.deliver(HELLO)).toBe(status);
  expect(keys[2]).toBe(keys[1]!);
  expect(new Set(keys).size).toBe(3);
});

test("the same words again on a living session are a message of their own, each with its key", async () => {
  const { smsc, received, clock } = await openRig();
  for (let time = 0; time < 3; time++) {
    expect(await smsc.deliver(HELLO)).toBe(0);
    await clock.advance(1_000);
  }
  expect(new Set(received.map(({ key }) => key)).size).toBe(3);
});

/** A bound rig; `reconnect` loses its session and waits for the next one, `pass` lets time go by on a session that stays. */
async function openReconnecting() {
  const received: ReceivedSms[] = [];
  const rig = await openSmppRig({
    deps: { onInbound: async (messages) => void received.push(...messages) },
  });
  const { smsc, clock, channel } = rig;
  channel.start();
  const bound = () => rig.until(() => channel.status().state === "up");
  await bound();
  return {
    smsc,
    received,
    async reconnect() {
      smsc.dropAll();
      await rig.until(() => channel.status().state !== "up");
      await clock.advance(5_000);
      await bound();
    },
    async pass(seconds: number) {
      for (let left = seconds; left > 0; left -= 10) {
        await clock.advance(10_000);
        await smsc.request(0x15);
      }
    },
  };
}

test("the same words on the next session are a repeat, unless the answer had long arrived", async () => {
  const { smsc, received, reconnect, pass } = await openReconnecting();
  await smsc.deliver(HELLO);
  await reconnect();
  await smsc.deliver(HELLO);
  expect(received[1]?.key).toBe(received[0]!.key);
  await pass(40);
  await reconnect();
  await smsc.deliver(HELLO);
  expect(received).toHaveLength(3);
  expect(received[2]!.key).not.toBe(received[0]!.key);
});

test.each([
  ["a minute", 60],
  ["a quarter of an hour", 900],
])(
  "a message that is delivered again is a repeat also where the handset wrote the same %s before",
  async (_, seconds) => {
    const { smsc, received, reconnect, pass } = await openReconnecting();
    await smsc.deliver(HELLO);
    await pass(seconds);
    await smsc.deliver(HELLO);
    for (let time = 0; time < 2; time++) {
      await reconnect();
      await smsc.deliver(HELLO);
    }
    const [first, second, ...again] = received;
    const isRepeat = ({ key }: ReceivedSms) => key === second?.key;
    expect(again.map(isRepeat)).toEqual([true, true]);
    const isNew = first?.key !== second?.key || first!.receivedAt < second!.sameSince;
    expect(isNew).toBe(true);
  },
);

test("the same words that come before the answer to the first are messages of their own, and repeats on the next session", async () => {
  const { take, keys, store, next } = openHeldInbox();
  const words = ["STOP", "START", "STOP", "STOP"];
  for (const text of words) take(text);
  await store();
  expect(new Set(keys).size).toBe(4);
  next();
  for (const text of words) take(text);
  await store();
  expect(keys.slice(4)).toEqual(keys.slice(0, 4));
});

test("the same words two seconds later are a repeat as long as the first has no answer: the SMSC may have given it up", async () => {
  const { take, keys, store, clock } = openHeldInbox();
  take("yes");
  await clock.advance(1_999);
  take("yes");
  await clock.advance(1);
  take("yes");
  await clock.advance(1_999);
  take("yes");
  await store();
  expect(keys).toEqual([keys[0]!, keys[1]!, keys[0]!, keys[1]!]);
  expect(keys[1]).not.toBe(keys[0]!);
});

test("the same words that come over another session before the answer are messages of their own, until the first session ends", async () => {
  const { take, keys, store, openAnother } = openHeldInbox();
  take("yes");
  const close = openAnother();
  take("yes");
  await store();
  expect(keys[1]).not.toBe(keys[0]!);
  take("no");
  close();
  openAnother();
  take("no");
  await store();
  expect(keys[3]).toBe(keys[2]!);
});

/** An inbox whose messages are stored by `store`, all that have come by then; `next` ends the session and opens another. */
function openHeldInbox() {
  const keys: string[] = [];
  const clock = createHeldClock();
  let held = Promise.withResolvers<void>();
  const inbox = createHandsetInbox(
    {
      connectorId: "c1",
      defaults: () => ({ alphabet: "gsm7" }),
      storeTimeoutMs: 600_000,
      keys: createInboundKeys(),
    },
    {
      clock,
      log: QUIET,
      onInboundKnown: async () => {},
      onInbound: async (batch) => {
        keys.push(...batch.map(({ key }) => key));
        await held.promise;
      },
    },
  );
  let session = inbox.open();
  let answers: Promise<void>[] = [];
  return {
    keys,
    clock,
    take(text: string) {
      const { promise, resolve } = Promise.withResolvers<void>();
      session.take({ ...HELLO, ...REST, shortMessage: Buffer.from(text) }, () => resolve());
      answers.push(promise);
    },
    async store() {
      held.resolve();
      await Promise.all(answers);
      [answers, held] = [[], Promise.withResolvers<void>()];
    },
    next() {
      session.close({});
      session = inbox.open();
    },
    /** Opens a session beside the one that there is. Returns what closes it. */
    openAnother() {
      const another = inbox.open();
      session = another;
      return () => another.close({});
    },
  };
}
