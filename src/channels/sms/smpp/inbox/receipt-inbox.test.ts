import { afterEach, expect, test } from "bun:test";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import {
  closeSmppRigs,
  LONG_TEXT,
  openBoundSmppRig,
  outgoingSms,
  sendThrough,
} from "../../../../../test/fakes/smpp-rig.ts";
import type { Receipt } from "../../../../core/messages/outcome.ts";
import { partReference } from "../../../../core/receipts/short-reference.ts";
import { cString, encodeTlvs } from "../wire/octets.ts";
import { COMMAND, decodeShortMessage, encodePdu, encodeShortMessage, TAG } from "../wire/pdu.ts";
import { createReceiptInbox } from "./receipt-inbox.ts";

afterEach(closeSmppRigs);

const NOBODY = { ton: 0, npi: 0, address: "" };
/** Ids of receipts are written as those of the answers. */
const SAME_IDS = () => ({ idFormat: "same" }) as const;

const FORMS = ["tlv", "text"] as const;
const ID_FORMATS = [
  ["same", "same"],
  ["hex, receipt decimal", "resp_hex_receipt_dec"],
  ["decimal, receipt hex", "resp_dec_receipt_hex"],
] as const;
const cases = FORMS.flatMap((form) => ID_FORMATS.map(([ids, id_format]) => [form, ids, id_format] as const));

test.each(cases)(
  "a receipt by %s, with ids %s, names its message by an id the message has",
  async (receiptForm, ids, id_format) => {
    const { channel, smsc, receipts, until, clock } = await openBoundSmppRig({
      dial: { receiptForm, receipts: "after", ids },
      config: { id_format },
    });
    const outcome = await sendThrough(channel);
    await until(() => receipts.length === 1);
    const [part] = outcome.parts;
    const providerMessageIds = part?.kind === "sent" ? part.providerMessageIds : [];
    expect(providerMessageIds[0]).toBe(smsc.submits[0]!.messageId);
    expect(providerMessageIds).toContain(receipts[0]!.providerMessageId);
    expect(receipts[0]).toMatchObject({
      connectorId: "c1",
      status: "delivered",
      receivedAt: clock.now(),
    });
    expect(receipts[0]!.raw).not.toContain("Hello");
  },
);

test("what the provider wrote is kept beside the id it stands for", async () => {
  const { channel, receipts, until } = await openBoundSmppRig({
    dial: { receiptForm: "text", receipts: "after", ids: "hex, receipt decimal" },
    config: { id_format: "resp_hex_receipt_dec" },
  });
  await sendThrough(channel);
  await until(() => receipts.length === 1);
  expect(receipts[0]).toMatchObject({
    providerMessageId: "A1B2C3D4",
    raw: expect.stringContaining("id:002712847316 "),
  });
});

test("a receipt tells whom it is about and, where the SMSC repeats it, the reference of the segment", async () => {
  const { channel, smsc, receipts, until } = await openBoundSmppRig({
    dial: { receipts: "after" },
    config: { user_message_reference: true },
  });
  const message = outgoingSms({ text: LONG_TEXT });
  await sendThrough(channel, message);
  await until(() => receipts.length === 2);
  expect(receipts.map(({ recipient }) => recipient)).toEqual(["919876543210", "919876543210"]);
  expect(receipts.map(({ reference }) => reference)).toEqual([
    partReference(message.messageId, 0),
    partReference(message.messageId, 1),
  ]);
  expect(smsc.submits).toHaveLength(2);
});

test("a receipt that comes before the answer to its submit_sm is stored all the same", async () => {
  const { channel, receipts } = await openBoundSmppRig({ dial: { receipts: "early" } });
  const outcome = await sendThrough(channel);
  expect(outcome.parts).toEqual([{ kind: "sent", providerMessageIds: [receipts[0]!.providerMessageId] }]);
});

test("a receipt is acknowledged only once it is stored", async () => {
  const stored = Promise.withResolvers<void>();
  const given = Promise.withResolvers<readonly Receipt[]>();
  const { smsc, channel } = await openBoundSmppRig({
    deps: {
      onReceipts(batch) {
        given.resolve(batch);
        return stored.promise;
      },
    },
  });
  await sendThrough(channel);
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
  const { smsc, channel } = await openBoundSmppRig({
    deps: {
      async onReceipts() {
        if (isBroken) throw new Error("disk full");
      },
    },
  });
  await sendThrough(channel);
  expect(await smsc.sendReceipt(smsc.submits[0]!)).toBe(0x64);
  isBroken = false;
  expect(await smsc.sendReceipt(smsc.submits[0]!)).toBe(0);
});

test("receipts that come in one read are stored together, and no timer is left", async () => {
  const batches: number[] = [];
  const { smsc, clock } = await openBoundSmppRig({
    deps: { onReceipts: async (batch) => void batches.push(batch.length) },
  });
  const before = clock.pending();
  const message = textReceipt("id:A1 stat:DELIVRD err:000");
  const frames = [91, 92, 93].map((sequence) =>
    encodePdu({ commandId: COMMAND.deliverSm, sequence, body: message }),
  );
  smsc.sendRaw(Buffer.concat(frames));
  await smsc.until(() => smsc.others.length === 3);
  expect(smsc.others.map(({ sequence, status }) => [sequence, status])).toEqual([
    [91, 0],
    [92, 0],
    [93, 0],
  ]);
  expect(batches).toEqual([3]);
  expect(clock.pending()).toBe(before);
});

test("a receipt counts in a data_sm too", async () => {
  const { smsc, receipts } = await openBoundSmppRig();
  const head = [
    cString(""),
    Uint8Array.of(1, 1),
    cString("919876543210"),
    Uint8Array.of(0, 0),
    cString("ACME"),
  ];
  const tlvs = encodeTlvs(
    new Map<number, Uint8Array>([
      [TAG.receiptedMessageId, cString("B7")],
      [TAG.messageState, Uint8Array.of(2)],
    ]),
  );
  const body = Buffer.concat([...head, Uint8Array.of(0x04, 0, 0), tlvs]);
  expect(await smsc.request(COMMAND.dataSm, body)).toMatchObject({ commandId: 0x80000103, status: 0 });
  expect(receipts).toMatchObject([
    { providerMessageId: "B7", status: "delivered", recipient: "919876543210" },
  ]);
});

test("receipts beyond what may wait are refused for now, and none is lost", async () => {
  const stored = Promise.withResolvers<void>();
  const batches: number[] = [];
  const { smsc, channel } = await openBoundSmppRig({
    deps: {
      async onReceipts(batch) {
        batches.push(batch.length);
        await stored.promise;
      },
    },
  });
  await sendThrough(channel);
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
  const { smsc, channel, clock } = await openBoundSmppRig({
    deps: {
      onReceipts() {
        given.resolve();
        return new Promise(() => {});
      },
    },
  });
  await sendThrough(channel);
  const acknowledged = smsc.sendReceipt(smsc.submits[0]!);
  await given.promise;
  await clock.advance(29_000);
  await smsc.request(0x15);
  await clock.advance(29_000);
  await smsc.request(0x15);
  await clock.advance(2000);
  expect(await acknowledged).toBe(0x64);
});

test("receipts that name no message are told of once a minute, however many there are", async () => {
  const clock = createHeldClock();
  const dropped: unknown[] = [];
  const log = {
    info() {},
    debug() {},
    warn: (fields: Readonly<Record<string, unknown>>) => dropped.push(fields.dropped),
  };
  const options = { connectorId: "c1", reading: SAME_IDS, storeTimeoutMs: 1_000 };
  const inbox = createReceiptInbox(options, { clock, log, onReceipts: async () => {} });
  const message = decodeShortMessage(textReceipt("stat:DELIVRD"))!;
  const acknowledged: number[] = [];
  const take = () => inbox.take(message, (status) => acknowledged.push(status));
  for (let n = 0; n < 500; n++) take();
  await clock.advance(60_000);
  take();
  expect(dropped).toEqual([1, 500]);
  expect(acknowledged).toEqual(Array(501).fill(0));
});

test("both ids of a receipt are handed over in the form that the message's id has, unless they are one", async () => {
  const receipts: Receipt[] = [];
  const inbox = createReceiptInbox(
    { connectorId: "c1", reading: () => ({ idFormat: "resp_hex_receipt_dec" }), storeTimeoutMs: 1_000 },
    {
      clock: createHeldClock(),
      log: { info() {}, debug() {}, warn() {} },
      onReceipts: async (batch) => void receipts.push(...batch),
    },
  );
  const message = decodeShortMessage(textReceipt("id:0000000031 stat:DELIVRD"))!;
  for (const id of ["32", "31"]) {
    const tlvs = new Map([[TAG.receiptedMessageId, cString(id)]]);
    expect(await new Promise((acknowledge) => inbox.take({ ...message, tlvs }, acknowledge))).toBe(0);
  }
  expect(receipts.map(({ providerMessageId, otherId }) => [providerMessageId, otherId])).toEqual([
    ["20", "1F"],
    ["1F", undefined],
  ]);
});

test("receipts that cannot be stored are told of once a second, however often an SMSC repeats them", async () => {
  const clock = createHeldClock();
  const told: unknown[] = [];
  const log = {
    info() {},
    debug() {},
    warn: (fields: Readonly<Record<string, unknown>>) => told.push(fields),
  };
  const options = { connectorId: "c1", reading: SAME_IDS, storeTimeoutMs: 1_000 };
  const onReceipts = () => Promise.reject(new Error("disk full"));
  const inbox = createReceiptInbox(options, { clock, log, onReceipts });
  const message = decodeShortMessage(textReceipt("id:1 stat:DELIVRD"))!;
  const take = () => new Promise<number>((acknowledge) => inbox.take(message, acknowledge));
  for (let n = 0; n < 500; n++) expect(await take()).toBe(0x64);
  await clock.advance(1_000);
  await take();
  const line = { connector: "c1", reason: "disk full" };
  expect(told).toEqual([
    { ...line, count: 1 },
    { ...line, count: 500 },
  ]);
});

function textReceipt(text: string): Buffer {
  return encodeShortMessage({
    source: NOBODY,
    destination: NOBODY,
    esmClass: 0x04,
    validityPeriod: "",
    registeredDelivery: 0,
    dataCoding: 0,
    shortMessage: Buffer.from(text),
    tlvs: new Map(),
  });
}
