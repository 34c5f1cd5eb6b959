/** Whatever comes to the return path, reading it neither throws nor takes long nor grows. */
import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { toBounceReceipt } from "../../src/channels/email/bounces/bounce-receipts.ts";
import { findTarget, findUnsubscription } from "../../src/channels/email/bounces/find-target.ts";
import { readReturnMail } from "../../src/channels/email/bounces/return-mail.ts";
import { createReturnPaths } from "../../src/channels/email/part-address.ts";
import {
  exchangeNdr,
  eximText,
  feedbackReport,
  gmailDsn,
  outOfOffice,
  postfixDsn,
  qmailText,
} from "../fakes/bounce-mails.ts";
import { eximDsn, openSmtpdDsn } from "../fakes/worded-reports.ts";

const MAILS = process.env.POSTRIDER_LONG_TESTS ? 1_000_000 : 4_000;
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_121);

/** Of processor time, collected garbage included: the clock on the wall also counts what else the machine does. */
const MOST_MS = 500;

const SAMPLES = [
  postfixDsn,
  exchangeNdr,
  gmailDsn,
  eximDsn,
  eximText,
  openSmtpdDsn,
  qmailText,
  feedbackReport,
  outOfOffice,
].map((sample) => Buffer.from(sample()));

/** Pieces that parsers trip over. */
const PIECES = [
  "\r\n", "\n", "\r", "\r\n\r\n", ":", ";", "=", '"', "--", "@", "<", ">", "\0", "\t", " ", "550 ", "5.1.1 ",
  "Content-Type: multipart/report; boundary=", "Content-Type: message/delivery-status\r\n\r\n",
  "Final-Recipient: ", "Action: failed\r\n", "Status: 5.", "boundary=\"\"", "Content-Transfer-Encoding: base64\r\n",
  "--- Below this line", "b-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@", "=40", "é", "\ufffd", "\\x{7528}", "\\347\\224\\250",
].map((piece) => Buffer.from(piece)); // biome-ignore format: pieces side by side

const paths = createReturnPaths(Buffer.alloc(32, 7));
const target = { messageId: randomUUID(), part: 0 };

function read(mail: Uint8Array): void {
  const before = process.cpuUsage();
  const receipt = toBounceReceipt(readReturnMail(mail), target, 1);
  findTarget(mail, paths);
  findUnsubscription(mail, { seal: () => "", open: () => undefined });
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(MOST_MS);
  expect(JSON.stringify(receipt ?? {}).length).toBeLessThan(2_048);
}

test(`mutated reports are read without a fault (seed ${SEED})`, () => {
  const chance = seeded(SEED);
  for (let i = 0; i < MAILS; i++) read(mutated(chance));
}, 3_600_000);

test("random octets are read without a fault", () => {
  const chance = seeded(SEED + 1);
  for (let i = 0; i < MAILS / 4; i++) {
    read(Buffer.from(Array.from({ length: chance(2_000) }, () => chance(256))));
  }
}, 3_600_000);

test.each(PIECES.map((piece) => [JSON.stringify(piece.toString()), piece] as const))(
  "a megabyte of %s, at any place of a report, takes no time to speak of",
  (_, piece) => {
    const filler = Buffer.alloc(1024 * 1024, piece);
    for (const sample of [postfixDsn(), eximText(), qmailText(), feedbackReport()].map((text) =>
      Buffer.from(text),
    )) {
      for (const at of placesIn(sample))
        read(Buffer.concat([sample.subarray(0, at), filler, sample.subarray(at)]));
    }
    read(filler);
  },
  120_000,
);

test("a report whose parts lie in one another, each said to be encoded, takes no time to speak of", () => {
  for (const line of ["=C3=A9\r\n", "=?a?q?=41?=\r\n"]) {
    let report = line.repeat((1024 * 1024) / line.length);
    for (const boundary of ["a", "b", "c", "d", "e"])
      report = `Content-Type: multipart/report; boundary=${boundary}\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n--${boundary}\r\n${report}`;
    read(Buffer.from(report));
  }
});

/** In the header, in a boundary, in the text, among the fields, at the end. */
function placesIn(sample: Buffer): readonly number[] {
  const found = [
    "Subject:",
    "boundary=",
    "X-Failed-Recipients: ",
    "<ann",
    "Action:",
    "Diagnostic-Code: ",
    "Feedback-Type: ",
  ];
  return [...found.map((word) => sample.indexOf(word)).filter((at) => at >= 0), sample.length];
}

type Chance = (below: number) => number;

function mutated(chance: Chance): Buffer {
  let mail: Buffer = pick(SAMPLES, chance);
  for (let count = 1 + chance(6); count > 0; count--)
    mail = MUTATIONS[chance(MUTATIONS.length)]!(mail, chance);
  return mail;
}

const MUTATIONS: readonly ((mail: Buffer, chance: Chance) => Buffer)[] = [
  (mail, chance) =>
    Buffer.concat([mail.subarray(0, chance(mail.length + 1)), mail.subarray(chance(mail.length + 1))]),
  (mail, chance) => insert(mail, pick(PIECES, chance), chance),
  (mail, chance) => insert(mail, Buffer.alloc(chance(20_000), pick(PIECES, chance)), chance),
  (mail, chance) => {
    const other = pick(SAMPLES, chance);
    return insert(mail, other.subarray(chance(other.length), chance(other.length)), chance);
  },
  (mail, chance) => {
    const copy = Buffer.from(mail);
    if (copy.length > 0) copy[chance(copy.length)] = chance(256);
    return copy;
  },
  (mail) => Buffer.from(mail.toString("latin1").replaceAll("\r\n", "\n"), "latin1"),
];

function insert(mail: Buffer, piece: Buffer, chance: Chance): Buffer {
  const at = chance(mail.length + 1);
  return Buffer.concat([mail.subarray(0, at), piece, mail.subarray(at)]);
}

function pick<T>(all: readonly T[], chance: Chance): T {
  return all[chance(all.length)]!;
}

/** Mulberry32. */
function seeded(seed: number): Chance {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
