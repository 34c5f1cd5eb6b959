/** What a relay says over one connection, by chance, and what it remembers of the mails. */
import type * as net from "node:net";
import { createDice } from "../dice.ts";
import {
  connectionFateOf,
  type MailFate,
  mailFateOf,
  type RecipientFate,
  recipientFateOf,
  senderFateOf,
  startFateOf,
  TAKEN,
} from "./relay-fates.ts";
import { oweReport, type Report } from "./relay-reports.ts";

/** One mail whose text began to come, and what the relay did with it. */
export interface HandOver {
  readonly relay: string;
  /** The reverse-path. */
  readonly from: string;
  readonly to: readonly string[];
  /** Of its Message-ID; empty if the text did not come so far. */
  readonly messageId: string;
  readonly subject: string;
  readonly atMs: number;
  readonly fate: MailFate;
  /** Its last line has come. */
  isComplete: boolean;
  isTaken: boolean;
  /** When the reply was written to an open connection. */
  answeredAtMs?: number;
  /** What the relay reports of it later. */
  report?: Report;
}

/** A recipient that the relay was asked about. */
export interface Offer {
  readonly relay: string;
  readonly address: string;
  readonly atMs: number;
  readonly fate: RecipientFate;
}

export interface RelayOptions {
  readonly name: string;
  readonly seed: string;
  /** Where it listens; a free port of 127.0.0.1 by default. */
  readonly host?: string;
  readonly port?: number;
  /** Ports of bounce listeners, of which some may not listen; none where reports go elsewhere. */
  readonly bouncePorts: readonly number[];
}

export interface Relay {
  readonly options: RelayOptions;
  readonly mails: HandOver[];
  readonly offers: Offer[];
  readonly sockets: Set<net.Socket>;
  /** How often each was offered. */
  readonly times: Map<string, number>;
  isKind: boolean;
  awayUntilMs: number;
}

/** What one connection has come to. */
interface Conversation {
  readonly socket: net.Socket;
  from: string;
  to: string[];
  /** The lines of a text that is coming. */
  text: string[] | undefined;
  mail: HandOver | undefined;
}

export async function converse(relay: Relay, socket: net.Socket): Promise<void> {
  const conversation: Conversation = { socket, from: "", to: [], text: undefined, mail: undefined };
  const fate = relay.isKind ? "ok" : connectionFateOf(next(relay, "connection"));
  if (fate === "hang up") return void socket.destroy();
  if (fate === "closing") return void close(socket);
  if (fate !== "mute") say(socket, "220 chaos ESMTP");
  let rest = "";
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    if (fate === "hang up later") return void socket.destroy();
    rest += chunk.toString("latin1");
    for (let end = rest.indexOf("\r\n"); end >= 0; end = rest.indexOf("\r\n")) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 2);
      if (conversation.text) await hearText(relay, conversation, line);
      else hearCommand(relay, conversation, line);
    }
  }
}

function close(socket: net.Socket, reply: string = REPLIES.closing): void {
  say(socket, reply);
  socket.end();
}

function say(socket: net.Socket, reply: string): boolean {
  if (socket.destroyed || !socket.writable) return false;
  socket.write(`${reply}\r\n`);
  return true;
}

function hearCommand(relay: Relay, conversation: Conversation, line: string): void {
  const { socket } = conversation;
  const verb = (line.split(/[ :]/)[0] ?? "").toUpperCase();
  switch (verb) {
    case "EHLO":
      say(socket, "250-chaos\r\n250-ENHANCEDSTATUSCODES\r\n250 DSN");
      return;
    case "MAIL":
      hearSender(relay, conversation, addressIn(line));
      return;
    case "RCPT":
      hearRecipient(relay, conversation, addressIn(line));
      return;
    case "DATA":
      hearStart(relay, conversation);
      return;
    case "QUIT":
      say(socket, "221 2.0.0 bye");
      socket.end();
      return;
    default:
      say(socket, "250 2.0.0 ok");
  }
}

function addressIn(line: string): string {
  return /<([^>]*)>/.exec(line)?.[1] ?? "";
}

const REPLIES = {
  ok: "250 2.1.5 ok",
  later: "450 4.2.1 the mailbox is busy",
  never: "550 5.1.1 no such mailbox",
  closing: "421 4.3.2 closing",
  unable: "451 4.3.0 try again later",
} as const;

function hearSender(relay: Relay, conversation: Conversation, from: string): void {
  const { socket } = conversation;
  Object.assign(conversation, { from, to: [], mail: undefined });
  const fate = relay.isKind ? "ok" : senderFateOf(next(relay, from));
  if (fate === "silence") return;
  if (fate === "drop") return void socket.destroy();
  if (fate === "closing") return void close(socket);
  if (fate === "not from you") return void close(socket, "421 4.7.0 try again later, closing connection");
  say(socket, fate === "ok" ? "250 2.1.0 ok" : REPLIES.unable);
}

function hearStart(relay: Relay, conversation: Conversation): void {
  const { socket, to } = conversation;
  if (to.length === 0) return void say(socket, "554 5.5.1 no valid recipients");
  const fate = relay.isKind ? "ok" : startFateOf(next(relay, `${to.join()}/data`));
  if (fate === "drop") return void socket.destroy();
  if (fate === "closing") return void close(socket);
  if (fate === "later") return void say(socket, REPLIES.unable);
  conversation.text = [];
  say(socket, "354 go on");
}

function hearRecipient(relay: Relay, { socket, to }: Conversation, address: string): void {
  const fate = relay.isKind ? "ok" : recipientFateOf(next(relay, address));
  relay.offers.push({ relay: relay.options.name, address, atMs: Date.now(), fate });
  if (fate === "silence") return;
  if (fate === "drop") return void socket.destroy();
  say(socket, REPLIES[fate]);
  if (fate === "ok") to.push(address);
  if (fate === "closing") socket.end();
}

/** The seed of what happens this time. */
function next({ options, times }: Relay, place: string): string {
  const time = (times.get(place) ?? 0) + 1;
  times.set(place, time);
  return `${options.seed}/${options.name}/${place}/${time}`;
}

async function hearText(relay: Relay, conversation: Conversation, line: string): Promise<void> {
  const { text = [], socket } = conversation;
  text.push(line);
  // The header is over: the fate may be to go no further.
  if (line === "") {
    conversation.mail ??= begin(relay, conversation, text);
    if (conversation.mail.fate === "cut off") socket.destroy();
  }
  if (line !== ".") return;
  conversation.text = undefined;
  if (conversation.mail) await end(relay, conversation, conversation.mail);
}

function begin(relay: Relay, { from, to }: Conversation, text: readonly string[]): HandOver {
  const header = text.join("\n").replaceAll(/\n[ \t]+/g, " ");
  const messageId = /^message-id: <([^@>]*)@/im.exec(header)?.[1] ?? "";
  const subject = /^subject: (.*)$/im.exec(header)?.[1] ?? "";
  const seed = next(relay, `${messageId}/${to.join()}`);
  const fate = relay.isKind ? "take" : mailFateOf(seed);
  const mail: HandOver = {
    relay: relay.options.name,
    from,
    to: [...to],
    messageId,
    subject,
    atMs: Date.now(),
    fate,
    isComplete: false,
    isTaken: false,
  };
  relay.mails.push(mail);
  return mail;
}

const SLOW_MS = 400;

async function end(relay: Relay, { socket }: Conversation, mail: HandOver): Promise<void> {
  const { fate } = mail;
  mail.isComplete = true;
  mail.isTaken = TAKEN.has(fate);
  if (mail.isTaken && relay.options.bouncePorts.length > 0) oweReport(mail);
  if (fate === "take silently") return;
  if (fate === "take and drop" || fate === "lose and drop") return void socket.destroy();
  if (fate === "take slowly") await Bun.sleep(createDice(`${mail.messageId}`).between(20, SLOW_MS));
  const reply = {
    later: REPLIES.unable,
    closing: REPLIES.closing,
    never: "554 5.6.0 this message is not wanted",
  }[fate as string];
  const queued = `250 2.0.0 ok: queued as ${relay.options.name}${relay.mails.indexOf(mail)}`;
  if (say(socket, reply ?? queued)) mail.answeredAtMs = Date.now();
  if (fate === "closing") socket.end();
}
