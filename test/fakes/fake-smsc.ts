/**
 * An SMSC for tests: SMPP 3.4 over real TCP or TLS, on 127.0.0.1 unless told otherwise, and a port of its own. Its dial makes it fail.
 */
import * as net from "node:net";
import * as tls from "node:tls";
import { createFrameReader } from "../../src/channels/sms/smpp/wire/frame-reader.ts";
import { cString } from "../../src/channels/sms/smpp/wire/octets.ts";
import {
  COMMAND,
  decodeMessageId,
  decodeShortMessage,
  encodePdu,
  isResponse,
  type Pdu,
  responseTo,
  type ShortMessage,
} from "../../src/channels/sms/smpp/wire/pdu.ts";
import { createSignals, type Signals } from "./signals.ts";
import type { BoundAs, SmscDial } from "./smsc-dial.ts";
import { deliverBody, receiptFor } from "./smsc-receipts.ts";
import { testTls } from "./test-tls.ts";

export interface ReceivedSubmit extends ShortMessage {
  readonly sequence: number;
  /** The id its answer gave, "" if it got none. */
  readonly messageId: string;
}

export interface FakeSmsc {
  readonly host: string;
  readonly port: number;
  readonly dial: SmscDial;
  /** Every submit_sm that came in, answered or not, in order. */
  readonly submits: readonly ReceivedSubmit[];
  /** Every bind, by its raw body. */
  readonly binds: readonly Buffer[];
  /** What is bound now, in the order of the connections. */
  bound(): readonly BoundAs[];
  /** Every PDU that is neither bind nor submit_sm, responses to ours included. */
  readonly others: readonly Pdu[];
  /** Connections open now. */
  connections(): number;
  /** Resolves when `isSo`, which is asked again after every PDU and every change of connections. */
  until(isSo: () => boolean): Promise<void>;
  /** Answers what `holdSubmits` held back, and holds nothing from then on. */
  release(): void;
  /** Answers the first of what `holdSubmits` holds back; false if that is nothing. */
  answerNext(): boolean;
  /** Sends a receipt for a submit_sm, as the dial says; resolves with the status of its deliver_sm_resp. */
  sendReceipt(submit: ReceivedSubmit, state?: string): Promise<number>;
  /** Sends a deliver_sm; resolves with the status of its deliver_sm_resp. */
  deliver(message: Partial<ShortMessage>): Promise<number>;
  /** Sends any request; resolves with its response. */
  request(commandId: number, body?: Uint8Array): Promise<Pdu>;
  /** Sends octets as they are. */
  sendRaw(octets: Uint8Array): void;
  /** Closes every connection, without an unbind. */
  dropAll(): void;
  /** The same, without a FIN either. */
  resetAll(): void;
  /** Closes the first connection with such a bind, without an unbind. */
  drop(boundAs: BoundAs): void;
  close(): Promise<void>;
}

const BINDS: Readonly<Record<number, BoundAs>> = {
  [COMMAND.bindTransceiver]: "transceiver",
  [COMMAND.bindTransmitter]: "transmitter",
  [COMMAND.bindReceiver]: "receiver",
};

interface Peer {
  readonly socket: net.Socket;
  boundAs?: BoundAs;
}

interface Smsc {
  readonly dial: SmscDial;
  readonly submits: ReceivedSubmit[];
  readonly binds: Buffer[];
  readonly others: Pdu[];
  readonly peers: Set<Peer>;
  readonly held: (() => void)[];
  readonly signals: Signals;
  readonly awaited: Map<number, (pdu: Pdu) => void>;
  nextId: number;
  nextSequence: number;
}

export async function startFakeSmsc(
  dial: SmscDial = {},
  options: { readonly tls?: boolean; readonly port?: number; readonly host?: string } = {},
): Promise<FakeSmsc> {
  const smsc: Smsc = {
    dial,
    submits: [],
    binds: [],
    others: [],
    peers: new Set(),
    held: [],
    signals: createSignals(),
    awaited: new Map(),
    nextId: 0xa1b2c3d4,
    nextSequence: 1,
  };
  const onConnection = (socket: net.Socket) => accept(smsc, socket);
  const server = options.tls
    ? tls.createServer({ key: testTls.key, cert: testTls.cert }, onConnection)
    : net.createServer(onConnection);
  const { host = "127.0.0.1" } = options;
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, host, resolve));
  return {
    host,
    port: (server.address() as net.AddressInfo).port,
    dial,
    submits: smsc.submits,
    binds: smsc.binds,
    others: smsc.others,
    connections: () => smsc.peers.size,
    bound: () => [...smsc.peers].flatMap(({ boundAs }) => boundAs ?? []),
    until: smsc.signals.until,
    release() {
      dial.holdSubmits = false;
      for (const answer of smsc.held.splice(0)) answer();
    },
    answerNext() {
      const answer = smsc.held.shift();
      answer?.();
      return answer !== undefined;
    },
    sendReceipt: (submit, state) => deliver(smsc, receiptFor(dial, submit, state)),
    deliver: (message) => deliver(smsc, message),
    request: (commandId, body) => request(smsc, commandId, body),
    sendRaw: (octets) => boundPeer(smsc).socket.write(octets),
    dropAll() {
      for (const { socket } of smsc.peers) socket.destroy();
    },
    resetAll() {
      for (const { socket } of smsc.peers) socket.resetAndDestroy();
    },
    drop(boundAs) {
      [...smsc.peers].find((peer) => peer.boundAs === boundAs)?.socket.destroy();
    },
    close() {
      for (const { socket } of smsc.peers) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function accept(smsc: Smsc, socket: net.Socket): void {
  const peer: Peer = { socket };
  smsc.peers.add(peer);
  socket.on("error", () => {});
  socket.on("close", () => {
    smsc.peers.delete(peer);
    smsc.signals.tell();
  });
  const frames = createFrameReader((pdu) => {
    receive(smsc, peer, pdu);
    smsc.signals.tell();
  });
  socket.on("data", (chunk: Buffer) => frames.push(chunk));
  if (smsc.dial.hangUp) socket.destroy();
  smsc.signals.tell();
}

function receive(smsc: Smsc, peer: Peer, pdu: Pdu): void {
  if (BINDS[pdu.commandId]) answerBind(smsc, peer, pdu);
  else if (pdu.commandId === COMMAND.submitSm) receiveSubmit(smsc, peer, pdu);
  else receiveOther(smsc, peer, pdu);
}

function answerQuery(smsc: Smsc, peer: Peer, pdu: Pdu): void {
  const messageId = decodeMessageId(pdu.body);
  const found = smsc.dial.queryState?.(messageId);
  const body = found && Buffer.concat([cString(messageId), cString(""), Uint8Array.of(...found)]);
  answer(peer, pdu, body ? { body } : { status: 0x67 });
}

function receiveOther(smsc: Smsc, peer: Peer, pdu: Pdu): void {
  smsc.others.push(pdu);
  if (isResponse(pdu)) {
    smsc.awaited.get(pdu.sequence)?.(pdu);
    smsc.awaited.delete(pdu.sequence);
    return;
  }
  if (pdu.commandId === COMMAND.enquireLink && smsc.dial.ignoreEnquireLink) return;
  if (pdu.commandId === COMMAND.querySm) answerQuery(smsc, peer, pdu);
  else answer(peer, pdu, {});
}

function answerBind(smsc: Smsc, peer: Peer, pdu: Pdu): void {
  smsc.binds.push(pdu.body);
  if (smsc.dial.ignoreBind) return;
  const { bindStatus } = smsc.dial;
  const boundAs = BINDS[pdu.commandId];
  const status = (typeof bindStatus === "function" ? bindStatus(boundAs) : bindStatus) ?? 0;
  if (status === 0 && boundAs) makeRoom(smsc, boundAs);
  if (status === 0 && boundAs) peer.boundAs = boundAs;
  answer(peer, pdu, status === 0 ? { body: cString("fake") } : { status });
}

function makeRoom({ dial, peers }: Smsc, boundAs: BoundAs): void {
  const alike = [...peers].filter((peer) => peer.boundAs === boundAs);
  if (alike.length >= (dial.sessions ?? Number.POSITIVE_INFINITY)) alike[0]?.socket.destroy();
}

function receiveSubmit(smsc: Smsc, peer: Peer, pdu: Pdu): void {
  const message = decodeShortMessage(pdu.body);
  if (!message) throw new Error("a submit_sm cannot be read");
  const { dial } = smsc;
  const status = submitStatus(smsc, message);
  const messageId = status === 0 ? nextMessageId(smsc) : "";
  const submit: ReceivedSubmit = { ...message, sequence: pdu.sequence, messageId };
  smsc.submits.push(submit);
  const respond = () => answerSubmit(smsc, { peer, pdu, submit, status });
  if (dial.holdSubmits) smsc.held.push(respond);
  else if (dial.delayMs) setTimeout(respond, dial.delayMs);
  else respond();
}

function submitStatus({ dial }: Smsc, message: ShortMessage): number {
  if (dial.throttle) {
    dial.throttle--;
    return 0x58;
  }
  return (typeof dial.submitStatus === "function" ? dial.submitStatus(message) : dial.submitStatus) ?? 0;
}

interface Submitted {
  readonly peer: Peer;
  readonly pdu: Pdu;
  readonly submit: ReceivedSubmit;
  readonly status: number;
}

function answerSubmit(smsc: Smsc, { peer, pdu, submit, status }: Submitted): void {
  const { dial } = smsc;
  const { sequence } = pdu;
  const body = status === 0 ? cString(submit.messageId) : Buffer.alloc(0);
  const frame = encodePdu({ commandId: responseTo(pdu.commandId), status, sequence, body });
  if (dial.drop || dial.garbage || dial.nack !== undefined) {
    answerBadly(dial, peer, frame);
    return;
  }
  const isTaken = status === 0;
  if (isTaken && dial.receipts === "early") void deliver(smsc, receiptFor(dial, submit));
  peer.socket.write(frame);
  if (isTaken && dial.receipts === "after") void deliver(smsc, receiptFor(dial, submit));
}

function answerBadly(dial: SmscDial, { socket }: Peer, frame: Buffer): void {
  if (dial.drop === "before answer") socket.destroy();
  else if (dial.drop === "mid answer") socket.end(frame.subarray(0, 12));
  else if (dial.garbage) socket.write(dial.garbage);
  else
    socket.write(
      encodePdu({ commandId: COMMAND.genericNack, status: dial.nack ?? 0, sequence: frame.readUInt32BE(12) }),
    );
}

function nextMessageId(smsc: Smsc): string {
  const id = smsc.nextId++;
  const { ids, writeId = String } = smsc.dial;
  return writeId(ids === "decimal, receipt hex" ? String(id) : id.toString(16).toUpperCase());
}

// ---------------------------------------------------------------- PDUs out

async function deliver(smsc: Smsc, message: Partial<ShortMessage>): Promise<number> {
  return (await request(smsc, COMMAND.deliverSm, deliverBody(message))).status;
}

function request(smsc: Smsc, commandId: number, body?: Uint8Array): Promise<Pdu> {
  const sequence = smsc.nextSequence++;
  const response = new Promise<Pdu>((resolve) => smsc.awaited.set(sequence, resolve));
  boundPeer(smsc).socket.write(encodePdu({ commandId, sequence, ...(body ? { body } : {}) }));
  return response;
}

function answer(peer: Peer, pdu: Pdu, { status = 0, body }: { status?: number; body?: Buffer }): void {
  const { sequence } = pdu;
  peer.socket.write(
    encodePdu({ commandId: responseTo(pdu.commandId), status, sequence, ...(body ? { body } : {}) }),
  );
}

function boundPeer(smsc: Smsc): Peer {
  const peer = [...smsc.peers].findLast(({ boundAs }) => boundAs && boundAs !== "transmitter");
  if (!peer) throw new Error("nobody is bound to be delivered to");
  return peer;
}
