import { expect, test } from "bun:test";
import { readHandsetMessage } from "../inbox/handset-message.ts";
import { isReceipt, readReceipt } from "../inbox/receipt.ts";
import { createFrameReader, MAX_PDU_OCTETS } from "./frame-reader.ts";
import {
  COMMAND,
  decodeDataSm,
  decodeMessageId,
  decodeShortMessage,
  encodePdu,
  encodeShortMessage,
  type Pdu,
} from "./pdu.ts";

function readAll(chunks: readonly Buffer[]) {
  const pdus: Pdu[] = [];
  const reader = createFrameReader((pdu) => pdus.push(pdu));
  const isReadable = chunks.map((chunk) => reader.push(chunk)).at(-1) ?? true;
  return { pdus, isReadable };
}

const frames = [
  encodePdu({ commandId: COMMAND.enquireLink, sequence: 1 }),
  encodePdu({ commandId: 0x80000004, sequence: 2, body: Buffer.from("abc\0") }),
  encodePdu({ commandId: COMMAND.deliverSm, sequence: 3, body: Buffer.alloc(MAX_PDU_OCTETS - 16, 0x55) }),
];

test("PDUs are found however the stream is cut", () => {
  const stream = Buffer.concat(frames.slice(0, 2));
  const whole = readAll([stream]);
  expect(whole.pdus.map((pdu) => [pdu.commandId, pdu.sequence, pdu.body.toString()])).toEqual([
    [0x15, 1, ""],
    [0x80000004, 2, "abc\0"],
  ]);
  for (let cut = 0; cut <= stream.length; cut++) {
    expect(readAll([stream.subarray(0, cut), stream.subarray(cut)])).toEqual(whole);
  }
  expect(readAll([...stream].map((octet) => Buffer.of(octet)))).toEqual(whole);
});

test("the longest PDU allowed is read, one octet more is not", () => {
  expect(readAll([frames[2]!]).pdus[0]?.body).toHaveLength(MAX_PDU_OCTETS - 16);
  const tooLong = Buffer.alloc(16);
  tooLong.writeUInt32BE(MAX_PDU_OCTETS + 1);
  expect(readAll([tooLong])).toEqual({ pdus: [], isReadable: false });
});

test.each([0, 1, 15, 0xffffffff])("after a command_length of %p nothing more is read", (length) => {
  const bad = Buffer.alloc(16);
  bad.writeUInt32BE(length);
  const { pdus, isReadable } = readAll([frames[0]!, bad, frames[0]!]);
  expect(pdus).toHaveLength(1);
  expect(isReadable).toBe(false);
  for (const cut of [1, 2, 3])
    expect(readAll([bad.subarray(0, cut), bad.subarray(cut, 4)]).isReadable).toBe(false);
});

// ---------------------------------------------------------------- fuzz

const RUNS = process.env.POSTRIDER_LONG_TESTS ? 2_000_000 : 20_000;

/** Octets that resident memory may grow by after a tenth of them, garbage not yet collected among them. */
const MEMORY_SLACK = 128 * 1024 * 1024;

test(`no octets whatever make the reader or the decoders throw (${RUNS} frames)`, () => {
  const random = mulberry32(0x5eed);
  const below = (limit: number) => Math.floor(random() * limit);
  const seeds = seedFrames();
  let read = 0;
  let broken = 0;
  let reader = createFrameReader(onPdu);
  function onPdu(pdu: Pdu) {
    read++;
    decodeMessageId(pdu.body);
    for (const message of [decodeShortMessage(pdu.body), decodeDataSm(pdu.body)]) {
      if (!message) continue;
      expect(readHandsetMessage(message, { alphabet: "gsm7" }).text.length).toBeLessThanOrEqual(
        2 * MAX_PDU_OCTETS,
      );
      if (!isReceipt(message)) continue;
      const receipt = readReceipt(message);
      if (receipt) expect(receipt.providerMessageId.length).toBeGreaterThan(0);
      expect(receipt?.raw?.length ?? 0).toBeLessThanOrEqual(255);
    }
  }
  let settledBytes = 0;
  for (let run = 0; run < RUNS; run++) {
    if (run === RUNS / 10) settledBytes = process.memoryUsage.rss();
    const frame = run % 4 === 0 ? noise(below(200), below) : mutate(seeds[below(seeds.length)]!, below);
    const cut = below(frame.length + 1);
    // An unfinished PDU swallows what follows it: begin anew now and then.
    if (below(8) === 0) reader = createFrameReader(onPdu);
    if (reader.push(frame.subarray(0, cut)) && reader.push(frame.subarray(cut))) continue;
    broken++;
    reader = createFrameReader(onPdu);
  }
  expect(process.memoryUsage.rss() - settledBytes).toBeLessThan(MEMORY_SLACK);
  // The fuzz is worth something only while both ways are taken often.
  expect(read).toBeGreaterThan(RUNS / 20);
  expect(broken).toBeGreaterThan(RUNS / 20);
});

function seedFrames(): Buffer[] {
  const nobody = { ton: 1, npi: 1, address: "919876543210" };
  const message = {
    source: nobody,
    destination: nobody,
    validityPeriod: "",
    registeredDelivery: 0,
    dataCoding: 0,
  };
  const text = Buffer.from(
    "id:0123456789 sub:001 dlvrd:001 submit date:2601151200 done date:2601151201 stat:DELIVRD err:000 text:x",
  );
  const tlvs = new Map([
    [0x001e, Buffer.from("0123456789\0")],
    [0x0427, Buffer.of(2)],
    [0x0423, Buffer.of(3, 0, 8)],
  ]);
  const bodies = [
    encodeShortMessage({ ...message, esmClass: 4, shortMessage: text, tlvs: new Map() }),
    encodeShortMessage({ ...message, esmClass: 4, shortMessage: Buffer.alloc(0), tlvs }),
    encodeShortMessage({
      ...message,
      esmClass: 0x44,
      dataCoding: 8,
      shortMessage: Buffer.from(text).subarray(0, 60),
      tlvs,
    }),
  ];
  return [
    ...bodies.map((body, i) => encodePdu({ commandId: COMMAND.deliverSm, sequence: i + 1, body })),
    encodePdu({ commandId: 0x80000004, sequence: 7, body: Buffer.from("a1b2c3d4\0") }),
  ];
}

/** Mostly one to four octets changed; at times cut short or with its length made to fit. */
function mutate(seed: Buffer, below: (limit: number) => number): Buffer {
  let frame = Buffer.from(seed);
  for (let i = below(5); i > 0; i--) frame[below(frame.length)] = below(256);
  if (below(10) === 0) frame = frame.subarray(0, below(frame.length));
  if (below(2) === 0 && frame.length >= 16) frame.writeUInt32BE(frame.length);
  return frame;
}

function noise(length: number, below: (limit: number) => number): Buffer {
  const frame = Buffer.alloc(length);
  for (let i = 0; i < length; i++) frame[i] = below(256);
  if (length >= 16 && below(2) === 0) frame.writeUInt32BE(length);
  return frame;
}

function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
