import { afterEach, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { type FakeSmsc, type SmscDial, startFakeSmsc } from "../../../../test/fakes/fake-smsc.ts";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { testTls } from "../../../../test/fakes/test-tls.ts";
import type { Connector } from "../../../core/accounts.ts";
import type { SmsContent } from "../../../core/message.ts";
import type { Receipt } from "../../../core/outcome.ts";
import { channelContract } from "../../channel.contract.ts";
import type { Channel, ChannelDeps, ChannelStatus, OutgoingSms } from "../../channel.ts";
import { openSmppChannel } from "./smpp-channel.ts";
import { smppConnectorKind } from "./smpp-connector.ts";

const never = new AbortController().signal;

/** Two segments in GSM-7. */
const LONG_TEXT = "Hello, this is a long message. ".repeat(6);

const rigs: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(rigs.splice(0).map((rig) => rig.close()));
});

interface Log {
  readonly level: string;
  readonly fields: Record<string, unknown>;
  readonly text: string;
}

async function openRig({
  dial = {},
  config = {},
  tls = false,
  deps = {},
}: {
  dial?: SmscDial;
  config?: Record<string, unknown>;
  tls?: boolean;
  deps?: Partial<ChannelDeps>;
} = {}) {
  const smsc = await startFakeSmsc(dial, { tls });
  const clock = createHeldClock();
  const statuses: ChannelStatus[] = [];
  const receipts: Receipt[] = [];
  const logs: Log[] = [];
  const signals = createSignals();
  const log = (level: string) => (fields: Record<string, unknown>, text: string) => {
    logs.push({ level, fields, text });
  };
  const connector = connectorTo(smsc, config);
  const channel = openSmppChannel(connector, {
    clock,
    random: () => 0.5,
    log: { info: log("info"), warn: log("warn"), debug: log("debug") },
    onSlots: signals.tell,
    onStatus(status) {
      statuses.push(status);
      signals.tell();
    },
    async onReceipts(batch) {
      receipts.push(...batch);
      signals.tell();
    },
    ...deps,
  });
  const rig = {
    smsc,
    clock,
    channel,
    connector,
    statuses,
    receipts,
    logs,
    until: signals.until,
    state: (state: ChannelStatus["state"]) => signals.until(() => channel.status().state === state),
    close: async () => {
      await smsc.close();
      const stopping = channel.stop();
      await clock.advance(30_000);
      await stopping;
    },
  };
  rigs.push(rig);
  return rig;
}

async function openUp(options: Parameters<typeof openRig>[0] = {}) {
  const rig = await openRig(options);
  rig.channel.start();
  await rig.state("up");
  return rig;
}

function connectorTo(smsc: FakeSmsc, config: Record<string, unknown>): Connector {
  return {
    id: "c1",
    name: "test",
    kind: "smpp",
    config: { host: smsc.host, port: smsc.port, system_id: "rider", ...config },
    secrets: { password: "secret" },
    isEnabled: true,
    createdAt: 0,
  };
}

function createSignals() {
  const watchers = new Set<() => void>();
  return {
    tell() {
      for (const look of [...watchers]) look();
    },
    until: (isSo: () => boolean) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (!isSo()) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
  };
}

function sms(
  over: Partial<Omit<OutgoingSms, "content">> & { content?: Partial<SmsContent> } = {},
): OutgoingSms {
  return {
    channel: "sms",
    messageId: randomUUID(),
    accountId: "a1",
    parts: [],
    attempt: 1,
    remainingMs: 3_600_000,
    createdAt: 0,
    to: "+919876543210",
    from: "PSTRDR",
    text: "Hello",
    ...over,
    content: { channel: "sms", ...over.content },
  };
}

const send = (channel: Channel, message = sms()) => channel.send(message, never);

channelContract("smpp", async () => {
  const rig = await openRig();
  const { smsc, channel, clock } = rig;
  return {
    channel,
    statuses: rig.statuses,
    message: (parts) => sms({ text: LONG_TEXT, parts: (parts ?? []).map((status) => ({ status })) }),
    whenUp: () => rig.state("up"),
    behave(as) {
      smsc.dial.holdSubmits = as === "silent";
      if (as === "defer") smsc.dial.submitStatus = 0x08;
      if (as === "reject") smsc.dial.submitStatus = 0x0b;
    },
    release: smsc.release,
    whenHanded: (count) => smsc.until(() => smsc.submits.length >= count),
    handed: () => smsc.submits.length,
    elapse: (ms) => clock.advance(ms),
    close: async () => {},
  };
});

test("a message goes out with the addresses, coding, DLT ids and validity the provider needs", async () => {
  const { channel, smsc } = await openUp();
  const outcome = await send(channel, sms({ content: { dltEntityId: "1101", dltTemplateId: "1107" } }));
  expect(outcome).toEqual({
    parts: [{ kind: "sent", providerMessageIds: ["A1B2C3D4"] }],
    countsAsAttempt: true,
    detail: { encoding: "gsm7", segments: 1 },
  });
  const [submit] = smsc.submits;
  expect(submit).toMatchObject({
    source: { ton: 5, npi: 0, address: "PSTRDR" },
    destination: { ton: 1, npi: 1, address: "919876543210" },
    esmClass: 0,
    dataCoding: 0,
    registeredDelivery: 1,
    validityPeriod: "000000010000000R",
  });
  expect(Buffer.from(submit!.shortMessage).toString("latin1")).toBe("Hello");
  expect([...submit!.tlvs].map(([tag, value]) => [tag, Buffer.from(value).toString("latin1")])).toEqual([
    [0x1400, "1101"],
    [0x1401, "1107"],
  ]);
});

test("a retry of one segment carries the same reference, count and number as the first try", async () => {
  const { channel, smsc } = await openUp();
  const first = sms({ text: LONG_TEXT });
  await send(channel, first);
  await send(channel, { ...first, attempt: 2, parts: [{ status: "sent" }, { status: "pending" }] });
  const headers = smsc.submits.map(({ shortMessage }) =>
    Buffer.from(shortMessage.subarray(0, 6)).toString("hex"),
  );
  expect(headers).toHaveLength(3);
  expect(headers[0]).toMatch(/^050003..0201$/);
  expect(headers[1]).toBe(headers[0]!.replace(/01$/, "02"));
  expect(headers[2]).toBe(headers[1]!);
});

test("a throttled message costs no attempt, and the channel rests about a second", async () => {
  const { channel, clock } = await openUp({ dial: { throttle: 1 } });
  expect(await send(channel)).toMatchObject({
    parts: [{ kind: "deferred", retryAfterMs: 1000, error: { code: "smpp.0x00000058" } }],
    countsAsAttempt: false,
  });
  expect(channel.freeSlots()).toBe(0);
  await clock.advance(999);
  expect(channel.freeSlots()).toBe(0);
  await clock.advance(1);
  expect(channel.freeSlots()).toBe(10);
  expect(await send(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
});

test.each([
  [0x14, "deferred", true],
  [0x08, "deferred", true],
  [0xff, "deferred", true],
  [0x0a, "rejected", true],
  [0x0b, "rejected", true],
  [0xc3, "rejected", true],
  [0x401, "rejected", true],
  [0x04, "deferred", false],
  [0x02, "deferred", true],
] as const)("status %p is %p, counting as an attempt: %p", async (submitStatus, kind, countsAsAttempt) => {
  const { channel } = await openUp({ dial: { submitStatus } });
  const code = `smpp.0x${submitStatus.toString(16).padStart(8, "0")}`;
  expect(await send(channel)).toMatchObject({ parts: [{ kind, error: { code } }], countsAsAttempt });
});

test("a connector's own classes of status outrank the table", async () => {
  const { channel } = await openUp({
    dial: { submitStatus: 0x401 },
    config: { status_classes: { "0x0401": "transient" } },
  });
  expect(await send(channel)).toMatchObject({ parts: [{ kind: "deferred" }] });
});

test("after a session fault the session is replaced, and the message is sent by the next", async () => {
  const { channel, smsc, clock, state } = await openUp({ dial: { submitStatus: 0x04 } });
  await send(channel);
  expect(channel.freeSlots()).toBe(0);
  await state("down");
  expect(channel.status().reason).toContain("ESME_RINVBNDSTS");
  delete smsc.dial.submitStatus;
  await clock.advance(1000);
  await state("up");
  expect(smsc.binds).toHaveLength(2);
  expect(await send(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
});

test("a generic_nack puts the message off and replaces the session", async () => {
  const { channel, state } = await openUp({ dial: { nack: 0x03 } });
  expect(await send(channel)).toMatchObject({ parts: [{ kind: "deferred" }], countsAsAttempt: true });
  await state("down");
});

test.each(["before answer", "mid answer"] as const)(
  "a connection lost %s leaves the message unconfirmed",
  async (drop) => {
    const { channel, state } = await openUp({ dial: { drop } });
    expect(await send(channel)).toMatchObject({
      parts: [{ kind: "unconfirmed", error: { code: "smpp.session_lost" } }],
      countsAsAttempt: true,
    });
    await state("down");
    expect(await send(channel)).toMatchObject({ parts: [{ kind: "deferred" }], countsAsAttempt: false });
  },
);

test("octets that are no PDU end the session with a generic_nack, and the next one works", async () => {
  const { channel, smsc, clock, state } = await openUp({
    dial: { garbage: Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n") },
  });
  expect(await send(channel)).toMatchObject({ parts: [{ kind: "unconfirmed" }] });
  await state("down");
  await smsc.until(() => smsc.others.length > 0);
  expect(smsc.others[0]).toMatchObject({ commandId: 0x80000000, status: 2, sequence: 0 });
  delete smsc.dial.garbage;
  await clock.advance(1000);
  await state("up");
  expect(await send(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
});

test("once a segment is refused, those not yet sent stay here", async () => {
  const { channel, smsc } = await openUp({ dial: { submitStatus: 0x0b }, config: { window: 1 } });
  const outcome = await send(channel, sms({ text: LONG_TEXT }));
  expect(outcome.parts.map((p) => p?.kind)).toEqual(["rejected", "rejected"]);
  expect(smsc.submits).toHaveLength(1);
});

test("never more submit_sm are unanswered than the window allows, and all are sent in the end", async () => {
  const { channel, smsc } = await openUp({ dial: { holdSubmits: true }, config: { window: 3 } });
  const sends = [1, 2, 3].map(() => send(channel, sms({ text: LONG_TEXT })));
  await smsc.until(() => smsc.submits.length === 3);
  expect(channel.freeSlots()).toBe(0);
  await smsc.request(0x15);
  expect(smsc.submits).toHaveLength(3);
  smsc.release();
  for (const outcome of await Promise.all(sends))
    expect(outcome.parts.map((p) => p?.kind)).toEqual(["sent", "sent"]);
  expect(channel.freeSlots()).toBe(3);
});

test("what the SMSC asks is answered while the window is full", async () => {
  const { channel, smsc, receipts } = await openUp({ dial: { holdSubmits: true }, config: { window: 1 } });
  const sending = send(channel);
  await smsc.until(() => smsc.submits.length === 1);
  expect(await smsc.request(0x15)).toMatchObject({ commandId: 0x80000015, status: 0 });
  expect(await smsc.sendReceipt({ ...smsc.submits[0]!, messageId: "other" })).toBe(0);
  expect(receipts).toHaveLength(1);
  smsc.release();
  await sending;
});

test("segments that find no slot in time are put off, and the send keeps its limit", async () => {
  const { channel, smsc, clock } = await openUp({ dial: { holdSubmits: true }, config: { window: 1 } });
  const sending = send(channel, sms({ text: LONG_TEXT.repeat(3) }));
  await smsc.until(() => smsc.submits.length === 1);
  await clock.advance(channel.sendTimeoutMs);
  const outcome = await sending;
  expect(outcome.parts[0]?.kind).toBe("unconfirmed");
  expect(outcome.parts.at(-1)?.kind).not.toBe("sent");
});

test("a message whose window ends while it waits is not sent", async () => {
  const { channel, smsc, clock } = await openUp({ dial: { holdSubmits: true }, config: { window: 1 } });
  const first = send(channel);
  await smsc.until(() => smsc.submits.length === 1);
  const second = send(channel, sms({ remainingMs: 5000 }));
  await clock.advance(5000);
  smsc.release();
  await first;
  expect(await second).toMatchObject({
    parts: [{ kind: "deferred", error: { code: "smpp.too_late" } }],
    countsAsAttempt: false,
  });
  expect(smsc.submits).toHaveLength(1);
});

test("a segment that was taken is progress: beside it, a throttled one costs no attempt", async () => {
  let count = 0;
  const { channel } = await openUp({ dial: { submitStatus: () => (++count === 2 ? 0x58 : 0) } });
  const outcome = await send(channel, sms({ text: LONG_TEXT }));
  expect(outcome.parts.map((p) => p?.kind)).toEqual(["sent", "deferred"]);
  expect(outcome.countsAsAttempt).toBe(false);
});

test("beside a segment that was taken, one that failed for the time being costs an attempt", async () => {
  let count = 0;
  const { channel } = await openUp({ dial: { submitStatus: () => (++count === 2 ? 0x08 : 0) } });
  const outcome = await send(channel, sms({ text: LONG_TEXT }));
  expect(outcome.parts.map((p) => p?.kind)).toEqual(["sent", "deferred"]);
  expect(outcome.countsAsAttempt).toBe(true);
});

test("a slot stays taken until its answer is in, also when nobody waits for that any more", async () => {
  const { channel, smsc, until } = await openUp({ dial: { holdSubmits: true }, config: { window: 1 } });
  const controller = new AbortController();
  const sending = channel.send(sms(), controller.signal);
  await smsc.until(() => smsc.submits.length === 1);
  controller.abort();
  expect(await sending).toMatchObject({ parts: [{ kind: "unconfirmed", error: { code: "smpp.cut_off" } }] });
  expect(channel.freeSlots()).toBe(0);
  smsc.release();
  await until(() => channel.freeSlots() === 1);
});

test("a text that no longer makes the segments that were sent is rejected, not sent in pieces that do not fit", async () => {
  const { channel, smsc } = await openUp();
  const outcome = await send(
    channel,
    sms({ text: "short", parts: [{ status: "sent" }, { status: "pending" }] }),
  );
  expect(outcome.parts.map((p) => p?.kind)).toEqual([undefined, "rejected"]);
  expect(smsc.submits).toHaveLength(0);
});

test("a message without text, or with a sender no SMSC takes, is rejected and not sent", async () => {
  const { channel, smsc } = await openUp();
  const { text: _, ...withoutText } = sms();
  expect(await send(channel, withoutText)).toMatchObject({ parts: [{ kind: "rejected" }] });
  expect(await send(channel, sms({ from: "Ünïcode" }))).toMatchObject({ parts: [{ kind: "rejected" }] });
  expect(await send(channel, sms({ from: "x".repeat(21) }))).toMatchObject({ parts: [{ kind: "rejected" }] });
  expect(smsc.submits).toHaveLength(0);
});

// ---------------------------------------------------------------- receipts

test.each(["tlv", "text"] as const)(
  "a receipt by %s is stored with the id as the provider wrote it",
  async (receiptForm) => {
    const { channel, receipts, until, clock } = await openUp({
      dial: { receiptForm, receipts: "after", ids: "hex, receipt decimal" },
    });
    await send(channel);
    await until(() => receipts.length === 1);
    expect(receipts[0]).toMatchObject({
      connectorId: "c1",
      providerMessageId: "002712847316",
      status: "delivered",
      receivedAt: clock.now(),
    });
    expect(receipts[0]!.raw).not.toContain("Hello");
  },
);

test("a receipt is acknowledged only once it is stored", async () => {
  const stored = Promise.withResolvers<void>();
  const given = Promise.withResolvers<readonly Receipt[]>();
  const { smsc, channel } = await openUp({
    deps: {
      onReceipts(batch) {
        given.resolve(batch);
        return stored.promise;
      },
    },
  });
  await send(channel);
  let status: number | undefined;
  const acknowledged = smsc.sendReceipt(smsc.submits[0]!).then((s) => {
    status = s;
  });
  expect(await given.promise).toHaveLength(1);
  await smsc.request(0x15);
  expect(status).toBeUndefined();
  stored.resolve();
  await acknowledged;
  expect(status).toBe(0);
});

test("a receipt that cannot be stored is refused for now, so that the SMSC delivers it again", async () => {
  let isBroken = true;
  const { smsc, channel } = await openUp({
    deps: {
      async onReceipts() {
        if (isBroken) throw new Error("disk full");
      },
    },
  });
  await send(channel);
  expect(await smsc.sendReceipt(smsc.submits[0]!)).toBe(0x64);
  isBroken = false;
  expect(await smsc.sendReceipt(smsc.submits[0]!)).toBe(0);
});

test("receipts beyond what may wait are refused for now, and none is lost", async () => {
  const stored = Promise.withResolvers<void>();
  const batches: number[] = [];
  const { smsc, channel } = await openUp({
    deps: {
      async onReceipts(batch) {
        batches.push(batch.length);
        await stored.promise;
      },
    },
  });
  await send(channel);
  const submit = smsc.submits[0]!;
  const first = smsc.sendReceipt(submit);
  await smsc.request(0x15);
  const more = Array.from({ length: 1001 }, () => smsc.sendReceipt(submit));
  expect(await more[1000]).toBe(0x64);
  stored.resolve();
  expect(await first).toBe(0);
  expect(await Promise.all(more.slice(0, 1000))).toEqual(Array(1000).fill(0));
  expect(batches).toEqual([1, 1000]);
});

test("a store that never answers does not hold a receipt for ever", async () => {
  const given = Promise.withResolvers<void>();
  const { smsc, channel, clock } = await openUp({
    deps: {
      onReceipts() {
        given.resolve();
        return new Promise(() => {});
      },
    },
  });
  await send(channel);
  const acknowledged = smsc.sendReceipt(smsc.submits[0]!);
  await given.promise;
  await clock.advance(29_000);
  await smsc.request(0x15);
  await clock.advance(29_000);
  await smsc.request(0x15);
  await clock.advance(2000);
  expect(await acknowledged).toBe(0x64);
});

test("a message from a handset is acknowledged, and logged without its text or number", async () => {
  const { smsc, receipts, logs } = await openUp();
  const message = {
    source: { ton: 1, npi: 1, address: "919876543210" },
    shortMessage: Buffer.from("id:1 stat:DELIVRD STOP"),
  };
  expect(await smsc.deliver(message)).toBe(0);
  expect(receipts).toEqual([]);
  const written = JSON.stringify(logs);
  expect(written).toContain("from handsets");
  expect(written).not.toContain("STOP");
  expect(written).not.toContain("9876543210");
});

// ---------------------------------------------------------------- the session's life

test("a silent SMSC is asked for life after 30 s, and given up when it does not answer", async () => {
  const { smsc, clock, state, channel } = await openUp({ dial: { ignoreEnquireLink: true } });
  await clock.advance(29_999);
  expect(smsc.others).toEqual([]);
  await clock.advance(1);
  await smsc.until(() => smsc.others.length === 1);
  expect(smsc.others[0]!.commandId).toBe(0x15);
  await clock.advance(60_000);
  await state("down");
  expect(channel.status().reason).toContain("enquire_link");
  delete smsc.dial.ignoreEnquireLink;
  await clock.advance(1000);
  await state("up");
});

test("an SMSC that answers enquire_link keeps its session, and is asked again", async () => {
  const { smsc, clock, statuses } = await openUp();
  const asked = () => smsc.others.filter(({ commandId }) => commandId === 0x15).length;
  for (let count = 1; count <= 4; count++) {
    await clock.advance(30_000);
    await smsc.until(() => asked() === count);
    // Once this is answered our own answer is in as well, and the silence starts again.
    await smsc.request(0x15);
    await clock.advance(29_999);
    expect(asked()).toBe(count);
    await smsc.request(0x15);
  }
  expect(statuses.map(({ state }) => state)).toEqual(["connecting", "up"]);
});

test("reconnecting waits 1 s, doubling to 60 s, with jitter", async () => {
  const { smsc, clock, channel, state, until } = await openRig({ dial: { hangUp: true } });
  channel.start();
  const waits: number[] = [];
  for (let i = 0; i < 8; i++) {
    await state("down");
    const from = clock.now();
    let isTried = false;
    void until(() => channel.status().state === "connecting").then(() => {
      isTried = true;
    });
    while (!isTried) await clock.advance(250);
    waits.push(clock.now() - from);
  }
  // Chance is held at one half: three quarters of each step.
  expect(waits).toEqual([750, 1500, 3000, 6000, 12_000, 24_000, 45_000, 45_000]);
  expect(smsc.binds).toHaveLength(0);
});

test("after a refused password the next try is minutes away, and the status says why", async () => {
  const { smsc, clock, channel, state, logs } = await openRig({ dial: { bindStatus: 0x0e } });
  channel.start();
  await state("down");
  expect(channel.status().reason).toBe(
    "the SMSC refused the bind: password is invalid (ESME_RINVPASWD); next try in 5 minutes",
  );
  expect(logs.some(({ level, fields }) => level === "warn" && String(fields.reason).includes("PASWD"))).toBe(
    true,
  );
  await clock.advance(299_000);
  expect(smsc.binds).toHaveLength(1);
  delete smsc.dial.bindStatus;
  await clock.advance(1000);
  await state("up");
});

test("a bind without an answer is given up after 30 s", async () => {
  const { smsc, clock, channel, state } = await openRig({ dial: { ignoreBind: true } });
  channel.start();
  await smsc.until(() => smsc.binds.length === 1);
  await clock.advance(30_000);
  await state("down");
  expect(channel.status().reason).toContain("bind");
});

test("an SMSC that unbinds is answered, and bound to again", async () => {
  const { smsc, clock, state } = await openUp();
  expect(await smsc.request(0x06)).toMatchObject({ commandId: 0x80000006, status: 0 });
  await state("down");
  await clock.advance(1000);
  await state("up");
  expect(smsc.binds).toHaveLength(2);
});

test("a command nobody knows is answered with generic_nack, and the session goes on", async () => {
  const { smsc, channel } = await openUp();
  expect(await smsc.request(0x0badc0de)).toMatchObject({ commandId: 0x80000000, status: 3 });
  expect(await send(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
});

test("a deliver_sm that cannot be read is refused, and the session goes on", async () => {
  const { smsc, channel } = await openUp();
  expect(await smsc.request(0x05, Buffer.from([0, 1]))).toMatchObject({
    commandId: 0x80000005,
    status: 0xc2,
  });
  expect(await send(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
});

test("responses to nothing are ignored", async () => {
  const { smsc, channel } = await openUp();
  for (const command of ["80000004", "80000015", "80000005", "8badc0de"]) {
    smsc.sendRaw(Buffer.from(`00000010${command}0000000000000063`, "hex"));
  }
  await smsc.request(0x15);
  expect(await send(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
});

test("requests and responses of any kind and content leave the session standing", async () => {
  const { smsc, channel } = await openUp();
  let seed = 1;
  const below = (limit: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % limit;
  };
  const commands = [0x05, 0x103, 0x15, 0x102, 0x80000004, 0x80000015, 0x80000005, 0x04, 0x09, 0x0b, 0x77];
  for (let i = 0; i < 2000; i++) {
    const frame = Buffer.from(Array.from({ length: 16 + below(80) }, () => below(256)));
    frame.writeUInt32BE(frame.length, 0);
    frame.writeUInt32BE(commands[below(commands.length)]!, 4);
    smsc.sendRaw(frame);
  }
  await smsc.request(0x15);
  expect(await send(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
  expect(smsc.binds).toHaveLength(1);
});

test("stop says unbind", async () => {
  const { smsc, channel } = await openUp();
  await channel.stop();
  expect(smsc.others.map(({ commandId }) => commandId)).toEqual([0x06]);
});

// ---------------------------------------------------------------- TLS, check, configuration

test("over TLS a message is sent, and a certificate of an unknown authority is refused", async () => {
  const trusting = await openUp({ tls: true, config: { tls: true, tls_ca: testTls.ca } });
  expect(await send(trusting.channel)).toMatchObject({ parts: [{ kind: "sent" }] });
  const wary = await openRig({ tls: true, config: { tls: true } });
  wary.channel.start();
  await wary.state("down");
  expect(wary.channel.status().reason).toContain("certificate");
  expect(wary.smsc.binds).toHaveLength(0);
  const misnamed = await openRig({
    tls: true,
    config: { tls: true, tls_ca: testTls.ca, tls_server_name: "smsc.example" },
  });
  misnamed.channel.start();
  await misnamed.state("down");
  expect(misnamed.smsc.binds).toHaveLength(0);
});

test("a certificate setting that is no certificate takes the connector down, not the process", async () => {
  const { channel, state } = await openRig({
    tls: true,
    config: { tls: true, tls_ca: "-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----" },
  });
  channel.start();
  await state("down");
  expect(channel.status().reason).toBeString();
});

test("a check binds and unbinds, or says why it cannot", async () => {
  const { smsc, clock, connector } = await openRig();
  expect(await smppConnectorKind.check(connector, clock)).toEqual({
    ok: true,
    detail: "bound as rider, and unbound",
  });
  smsc.dial.bindStatus = 0x0e;
  expect(await smppConnectorKind.check(connector, clock)).toMatchObject({
    ok: false,
    detail: expect.stringContaining("PASWD"),
  });
  smsc.dial.ignoreBind = true;
  const checking = smppConnectorKind.check(connector, clock);
  await smsc.until(() => smsc.binds.length === 3);
  await clock.advance(15_000);
  expect(await checking).toMatchObject({ ok: false });
  const broken = { ...connector, config: { ...connector.config, port: 70_000 } };
  expect(await smppConnectorKind.check(broken, clock)).toMatchObject({
    ok: false,
    detail: expect.stringContaining("/port"),
  });
  expect(() => smppConnectorKind.open(broken, {} as ChannelDeps)).toThrow("/port");
});
