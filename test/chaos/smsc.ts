/** An SMSC over real TCP that fails at random, by a seed. It remembers every submit: the truth about what was sent. */
import * as net from "node:net";
import { createFrameReader } from "../../src/channels/sms/smpp/wire/frame-reader.ts";
import { cString } from "../../src/channels/sms/smpp/wire/octets.ts";
import {
  COMMAND,
  decodeShortMessage,
  encodePdu,
  isResponse,
  type Pdu,
  responseTo,
  type ShortMessage,
  TAG,
} from "../../src/channels/sms/smpp/wire/pdu.ts";
import { partReference } from "../../src/core/receipts/short-reference.ts";
import type { FakeSmsc } from "../fakes/fake-smsc.ts";
import { deliverBody } from "../fakes/smsc-receipts.ts";
import type { HandOver } from "./model.ts";
import { type Deliver, isOwed, type OwedReceipt, oweReceipts, payReceipts } from "./owed-receipts.ts";
import { contentOf } from "./segment.ts";
import { type Fate, fateOf, isTaken, STATUS_OF, saysOf } from "./smsc-fates.ts";

/** One submit_sm, and what the SMSC did with it. */
export interface Submitted extends HandOver {
  /** user_message_reference: names message and part. */
  readonly reference: number;
  readonly message: ShortMessage;
  readonly fate: Fate;
  readonly receipts: OwedReceipt[];
  /** Its receipts carry the reference, where they can. */
  repeatsReference: boolean;
}

export interface ChaosSmsc extends Pick<FakeSmsc, "host" | "port"> {
  readonly name: string;
  readonly submits: readonly Submitted[];
  /** From now on everything is taken, answered and delivered. */
  beKind(): void;
  dropAll(): void;
  unbindOne(): void;
  /** Closes all connections, and takes none for so long. */
  goAway(ms: number): void;
  /** Sends a receipt for an id that no submit got. */
  inventReceipt(): void;
  /** How many sessions are bound. */
  bound(): number;
  /** Receipts that are not stored yet. */
  owed(): number;
  close(): Promise<void>;
}

export interface SmscOptions {
  readonly name: string;
  readonly seed: string;
  readonly now: () => number;
  /** The connector's: a later answer is late. */
  readonly responseTimeoutMs: number;
}

interface Peer {
  readonly socket: net.Socket;
  isBound: boolean;
}

interface Smsc {
  readonly options: SmscOptions;
  readonly submits: Submitted[];
  /** How often each part was submitted. */
  readonly times: Map<string, number>;
  readonly peers: Set<Peer>;
  /** Callbacks for deliver_sm_resp, by sequence_number. */
  readonly awaited: Map<number, (status: number) => void>;
  isKind: boolean;
  awayUntilMs: number;
  nextId: number;
  nextSequence: number;
}

/** How often it looks for receipts that are due. */
const PUMP_MS = 20;

export async function startChaosSmsc(options: SmscOptions): Promise<ChaosSmsc> {
  const smsc: Smsc = {
    options,
    submits: [],
    times: new Map(),
    peers: new Set(),
    awaited: new Map(),
    isKind: false,
    awayUntilMs: 0,
    // Those of two SMSCs differ: which of them a part is at may have changed.
    nextId: options.name === "first" ? 0x10_000 : 0x20_000,
    nextSequence: 1,
  };
  const server = net.createServer((socket) => accept(smsc, socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const pump = setInterval(() => payReceipts(smsc.submits, deliverTo(smsc)), PUMP_MS);
  return {
    name: options.name,
    host: "127.0.0.1",
    port: (server.address() as net.AddressInfo).port,
    submits: smsc.submits,
    beKind() {
      smsc.isKind = true;
      smsc.awayUntilMs = 0;
    },
    dropAll() {
      for (const { socket } of smsc.peers) socket.destroy();
    },
    unbindOne() {
      const [peer] = [...smsc.peers].filter(({ isBound }) => isBound);
      peer?.socket.write(encodePdu({ commandId: COMMAND.unbind, sequence: smsc.nextSequence++ }));
    },
    goAway(ms) {
      smsc.awayUntilMs = Date.now() + ms;
      for (const { socket } of smsc.peers) socket.destroy();
    },
    inventReceipt() {
      const text = `id:FFFF${smsc.nextSequence} sub:001 dlvrd:001 submit date:2601151200 done date:2601151201 stat:DELIVRD err:000 text:`;
      deliverTo(smsc)({ esmClass: 0x04, shortMessage: Buffer.from(text) }, () => {});
    },
    bound: () => [...smsc.peers].filter((peer) => peer.isBound).length,
    owed: () => smsc.submits.flatMap(({ receipts }) => receipts.filter(isOwed)).length,
    close() {
      clearInterval(pump);
      for (const { socket } of smsc.peers) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function accept(smsc: Smsc, socket: net.Socket): void {
  const peer: Peer = { socket, isBound: false };
  socket.on("error", () => {});
  if (Date.now() < smsc.awayUntilMs) {
    socket.destroy();
    return;
  }
  smsc.peers.add(peer);
  socket.on("close", () => smsc.peers.delete(peer));
  const frames = createFrameReader((pdu) => receive(smsc, peer, pdu));
  socket.on("data", (chunk: Buffer) => frames.push(chunk));
}

function receive(smsc: Smsc, peer: Peer, pdu: Pdu): void {
  if (isResponse(pdu)) {
    smsc.awaited.get(pdu.sequence)?.(pdu.status);
    smsc.awaited.delete(pdu.sequence);
    return;
  }
  if (pdu.commandId === COMMAND.submitSm) {
    receiveSubmit(smsc, peer, pdu);
    return;
  }
  const isBind = pdu.commandId === COMMAND.bindTransceiver;
  if (isBind) peer.isBound = true;
  respond(peer, pdu, { body: isBind ? cString("chaos") : undefined });
  if (pdu.commandId === COMMAND.unbind) peer.socket.end();
}

function respond(
  { socket }: Peer,
  pdu: Pdu,
  { status = 0, body }: { status?: number; body?: Buffer | undefined },
): void {
  const { commandId, sequence } = pdu;
  socket.write(encodePdu({ commandId: responseTo(commandId), status, sequence, body }));
}

function receiveSubmit(smsc: Smsc, peer: Peer, pdu: Pdu): void {
  const message = decodeShortMessage(pdu.body);
  const tlv = message?.tlvs.get(TAG.userMessageReference);
  if (!message || !tlv) throw new Error("a submit_sm cannot be read");
  const to = `+${message.destination.address}`;
  const reference = Buffer.from(tlv).readUInt16BE();
  const place = `${smsc.options.seed}/${smsc.options.name}/${to}/${reference}`;
  const time = (smsc.times.get(place) ?? 0) + 1;
  smsc.times.set(place, time);
  const fate = smsc.isKind ? "take" : fateOf(`${place}/${time}`);
  const submit: Submitted = {
    peer: `${smsc.options.name} SMSC`,
    to,
    reference,
    message,
    fate,
    ...contentOf(message),
    atMs: Date.now(),
    at: smsc.options.now(),
    isTaken: isTaken(fate),
    says: saysOf(fate),
    partOf: (id) => PARTS.find((part) => partReference(id, part) === reference),
    messageId: isTaken(fate) ? (smsc.nextId++).toString(16).toUpperCase() : "",
    receipts: [],
    repeatsReference: false,
  };
  smsc.submits.push(submit);
  if (submit.isTaken) oweReceipts(submit, `${place}/${time}`, deliverTo(smsc));
  answerAsFated(smsc, peer, { pdu, submit });
}

/** A text of 450 characters has seven segments in UCS-2. */
const PARTS = [0, 1, 2, 3, 4, 5, 6];

interface Answering {
  readonly pdu: Pdu;
  readonly submit: Submitted;
}

const LATE_BY_MS = 300;

function answerAsFated(smsc: Smsc, peer: Peer, answering: Answering): void {
  const { fate, reference } = answering.submit;
  const answer = () => answerSubmit(peer, answering);
  switch (fate) {
    case "lose":
    case "take silently":
      return;
    case "lose and drop":
    case "take and drop":
      peer.socket.destroy();
      return;
    case "take slowly":
      setTimeout(answer, 20 + (reference % 400));
      return;
    case "take late":
      setTimeout(answer, smsc.options.responseTimeoutMs + LATE_BY_MS);
      return;
    case "answer and drop":
      answer();
      peer.socket.end();
      return;
    case "answer and unbind":
      answer();
      peer.socket.write(encodePdu({ commandId: COMMAND.unbind, sequence: smsc.nextSequence++ }));
      return;
    default:
      answer();
  }
}

function answerSubmit(peer: Peer, { pdu, submit }: Answering): void {
  if (peer.socket.destroyed || !peer.socket.writable) return;
  submit.answeredAtMs = Date.now();
  const status = STATUS_OF[submit.fate] ?? 0;
  respond(peer, pdu, { status, body: status === 0 ? cString(submit.messageId) : undefined });
}

function deliverTo(smsc: Smsc): Deliver {
  return (message, onAnswer) => {
    const bound = [...smsc.peers].filter((peer) => peer.isBound && peer.socket.writable);
    const sequence = smsc.nextSequence++;
    const peer = bound[sequence % bound.length];
    if (!peer) return false;
    smsc.awaited.set(sequence, onAnswer);
    peer.socket.write(encodePdu({ commandId: COMMAND.deliverSm, sequence, body: deliverBody(message) }));
    return true;
  };
}
