import * as net from "node:net";
import * as tls from "node:tls";
import type { Clock } from "../../../../core/clock.ts";
import { errorText } from "../../../../core/error-text.ts";
import { withCertificateAdvice } from "../../../certificate-advice.ts";
import { familyOf, withLocalAddressAdvice } from "../../../local-address.ts";
import { lookupInTurn, type Resolve } from "../../../lookup-in-turn.ts";
import { isTlsRecord, NO_HANDSHAKE, withClearAdvice } from "../../../tls-advice.ts";
import { failAfterReading } from "./fail-after-reading.ts";
import { createFrameReader } from "./frame-reader.ts";
import type { Pdu } from "./pdu.ts";

export interface ConnectionTarget {
  readonly host: string;
  readonly port: number;
  /** The address of this machine to connect from; absent: as the system chooses. */
  readonly localAddress?: string;
  /** How often in a row it was tried before. If its name has several addresses, each try begins with another. Absent: 0. */
  readonly turn?: number;
  /** Looks up the addresses of the name; absent: as the machine does. */
  readonly resolve?: Resolve;
  /** Absent: clear text. */
  readonly tls?: {
    /** PEM; absent: the authorities that the runtime trusts. */
    readonly ca?: string;
    /** The name that the certificate must be for; absent: `host`. */
    readonly serverName?: string;
    /** False: any certificate will do. */
    readonly isVerified: boolean;
  };
  /** How long connecting may take, TLS included. */
  readonly connectTimeoutMs: number;
}

export interface ConnectionEvents {
  onOpen(): void;
  onPdu(pdu: Pdu): void;
  /** A command_length was impossible; `reason` is for the operator. Nothing more is read. */
  onBrokenFrame(reason: string): void;
  /** Called once, whatever ended the connection; `reason` is for the operator. */
  onClosed(reason: string): void;
}

export interface Connection {
  /** `onWritten` is called when all octets have left this process; at the close, also if they may have; never if they have not. */
  write(frame: Buffer, onWritten?: () => void): void;
  /** Lets pending writes go out, then closes, within a second. Nothing more is written. */
  end(reason: string): void;
  /** Closes now. */
  destroy(reason: string): void;
}

/** How much unsent data we hold for a peer that does not read; then the connection is closed. */
const MAX_UNREAD_OCTETS = 1024 * 1024;

const END_GRACE_MS = 1000;

const IN_THE_CLEAR = "`tls` is to be false";
const OVER_TLS = "the SMSC speaks TLS on this port: `tls` is to be true";
const IN_TEXT =
  "another protocol than SMPP is spoken on this port, such as HTTP or SMTP: `host` and `port` are to be the SMSC's";

/** Connects over TCP, or TLS, and reads PDUs. */
export function openConnection(target: ConnectionTarget, clock: Clock, events: ConnectionEvents): Connection {
  const socket = target.tls ? tls.connect(tlsOptions(target, target.tls)) : net.connect(wayTo(target));
  const whyTooLong = watchConnecting(socket);
  let timer = clock.after(target.connectTimeoutMs, () => fail(whyTooLong()));
  let isClosed = false;
  let ending: string | undefined;
  const close = (reason: string) => {
    if (isClosed) return;
    isClosed = true;
    timer();
    frames.tellBegun();
    events.onClosed(ending ?? reason);
  };
  const destroy = (reason: string) => {
    socket.destroy();
    close(reason);
  };
  const fail = (reason: string) => destroy(withAdvice(reason, target));

  socket.setNoDelay(true);
  if (!target.tls) failAfterReading(socket, clock);
  socket.on(target.tls ? "secureConnect" : "connect", () => {
    timer();
    if (!isClosed) events.onOpen();
  });
  const read = createReader(events, () => isClosed);
  socket.on("data", inTurns(socket, read));
  socket.on("error", (error) => fail(errorText(error)));
  socket.on("close", () => close("the SMSC closed the connection"));

  const frames = createFrameLine(socket);
  return {
    write(frame, onWritten) {
      if (isClosed || ending !== undefined) return;
      if (socket.writableLength > MAX_UNREAD_OCTETS) return destroy("the SMSC does not read what it is sent");
      frames.join(frame, onWritten);
    },
    end(reason) {
      if (isClosed) return;
      ending = reason;
      frames.flush();
      timer();
      timer = clock.after(END_GRACE_MS, () => destroy(reason));
      socket.end();
    },
    destroy,
  };
}

/** The reason, with what the operator can do about it. */
function withAdvice(given: string, { tls: used, localAddress }: ConnectionTarget): string {
  const reason = withLocalAddressAdvice(given, localAddress);
  if (!used) return reason;
  const host = used.serverName === undefined ? "`host` (or `tls_server_name`)" : "`tls_server_name`";
  const fields = { authority: "tls_ca", hasAuthority: used.ca !== undefined, host };
  return withClearAdvice(withCertificateAdvice(reason, fields), IN_THE_CLEAR);
}

/** The reason to give when the time is up: if there is a TCP connection, it is TLS that was not established. */
function watchConnecting(socket: net.Socket): () => string {
  let reason = "connecting took too long";
  socket.once("connect", () => {
    reason = NO_HANDSHAKE;
  });
  return () => reason;
}

/**
 * Collects the frames of one turn of the event loop and writes them together: a system call for each would cost more than
 * everything else about it. They are written after all promise callbacks of the turn, and the ticks that those asked for.
 */
function createFrameLine(socket: net.Socket) {
  let frames: Uint8Array[] = [];
  let listeners: (() => void)[] = [];
  const writes = createWrites();
  const flush = () => {
    if (frames.length === 0 || socket.destroyed) return;
    const [octets, told] = [Buffer.concat(frames), listeners];
    frames = [];
    listeners = [];
    const ended = writes.begin(told);
    socket.write(octets, (error) => {
      if (!error) ended();
    });
  };
  return {
    join(frame: Uint8Array, onWritten?: () => void): void {
      frames.push(frame);
      if (onWritten) listeners.push(onWritten);
      if (frames.length === 1) queueMicrotask(() => process.nextTick(flush));
    },
    flush,
    tellBegun: writes.tellBegun,
  };
}

/**
 * The writes that the socket has not completed. A write that has begun may have left in part, and nobody knows how much of it.
 * The first write begins at once. The others wait in the socket, which writes all of them together when a write ends, so then
 * all of them count as begun.
 */
function createWrites() {
  const writes = new Set<{ readonly listeners: readonly (() => void)[]; isBegun: boolean }>();
  return {
    begin(listeners: readonly (() => void)[]): () => void {
      const write = { listeners, isBegun: writes.size === 0 };
      writes.add(write);
      return () => {
        writes.delete(write);
        for (const other of writes) other.isBegun = true;
        for (const tell of listeners) tell();
      };
    },
    tellBegun(): void {
      for (const { listeners, isBegun } of writes) if (isBegun) for (const tell of listeners) tell();
      writes.clear();
    },
  };
}

/** This much in one piece is hundreds of PDUs, and may be a flood. */
const MUCH_OCTETS = 64 * 1024;

/** Reads in turns: from a peer that sends without end, the runtime would read megabytes before anybody else had a turn. */
function inTurns(socket: net.Socket, read: (chunk: Buffer) => void): (chunk: Buffer) => void {
  return (chunk) => {
    read(chunk);
    if (chunk.length < MUCH_OCTETS) return;
    socket.pause();
    setImmediate(() => socket.resume());
  };
}

/** Passes on what comes in, PDU by PDU, until a frame is broken or the connection is closed. */
function createReader(events: ConnectionEvents, isClosed: () => boolean): (chunk: Buffer) => void {
  const frames = createFrameReader((pdu) => {
    if (!isClosed()) events.onPdu(pdu);
  });
  let isReadable = true;
  let isFirst = true;
  return (chunk) => {
    if (isClosed() || !isReadable) return;
    const other = isFirst ? otherProtocol(chunk) : undefined;
    isFirst = false;
    isReadable = frames.push(chunk);
    if (isReadable || isClosed()) return;
    events.onBrokenFrame(other ?? "the SMSC sent a PDU of impossible length");
  };
}

/** What to say of a peer that begins like this, if it is no SMPP. */
function otherProtocol(octets: Buffer): string | undefined {
  if (isTlsRecord(octets)) return OVER_TLS;
  // As a command_length this would be half a gigabyte and more.
  return /^[ -~]{4}/.test(octets.toString("latin1", 0, 4)) ? IN_TEXT : undefined;
}

function tlsOptions(
  target: ConnectionTarget,
  options: NonNullable<ConnectionTarget["tls"]>,
): tls.ConnectionOptions {
  return {
    ...wayTo(target),
    rejectUnauthorized: options.isVerified,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
    ...(options.serverName === undefined ? {} : { servername: options.serverName }),
  };
}

/** Where to connect, and from where. */
function wayTo({ host, port, localAddress, turn = 0, resolve }: ConnectionTarget): net.TcpSocketConnectOpts {
  const to = { host, port, lookup: lookupInTurn(turn, resolve) };
  return localAddress === undefined ? to : { ...to, localAddress, family: familyOf(localAddress) };
}
