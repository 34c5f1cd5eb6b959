/**
 * SMTP servers for tests, on 127.0.0.1 and a port of their own. `startFakeSmtp` is a whole server (`smtp-server`), whose
 * dial makes it fail; `startRawSmtp` answers line by line as a script says, for what no real server does.
 */
import { type AddressInfo, createServer, type Socket } from "node:net";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from "smtp-server";
import { createChanges } from "./changes.ts";
import { testTls } from "./test-tls.ts";

export interface ReceivedMail {
  readonly from: string;
  /** In the order of RCPT TO; those that were refused are not in it. */
  readonly to: readonly string[];
  /** As it came over the wire, dots unstuffed. */
  readonly raw: string;
  readonly parsed: Email;
  /** Which connection of this server it came by, from 1. */
  readonly connection: number;
  readonly isSecure: boolean;
  readonly user?: string;
}

export interface SmtpReply {
  readonly code: number;
  readonly text: string;
}

/** What goes wrong from now on; an absent member goes well. Change it at any time. */
export interface SmtpDial {
  greeting?: SmtpReply;
  mail?: SmtpReply;
  /** By recipient; `"*"` is everyone. */
  rcpt?: Record<string, SmtpReply>;
  /** The answer to the whole message. */
  message?: SmtpReply;
  /** `during`: the connection drops at the first octets of a message; `after`: once the final dot is in. */
  drop?: "during" | "after";
  /** The answer to a whole message (of at least `holdFrom` characters) does not come before the promise resolves. */
  holdMessage?: Promise<void>;
  holdFrom?: number;
}

export interface FakeSmtpOptions {
  /** `starttls` (as offered), `implicit`, or `none` (the default). The certificate is that of `testTls`, if no other is given. */
  readonly tls?: "none" | "starttls" | "implicit";
  readonly certificate?: { readonly key: string; readonly cert: string };
  /** AUTH is required, and only this will do. */
  readonly auth?: { readonly username: string; readonly password: string };
  readonly maxOctets?: number;
  /** SMTPUTF8 is offered unless false. */
  readonly smtpUtf8?: boolean;
  /** A port that was free before. */
  readonly port?: number;
}

export interface FakeSmtp {
  readonly host: "127.0.0.1";
  readonly port: number;
  readonly dial: SmtpDial;
  /** Everything that was answered 250, in order. */
  readonly received: readonly ReceivedMail[];
  /** Connections made so far. */
  readonly connections: () => number;
  /** Resolves with the mail number `index` (from 0) once it is in. */
  readonly mail: (index: number) => Promise<ReceivedMail>;
  /** Resolves when `count` connections are open. */
  readonly openConnections: (count: number) => Promise<void>;
  /** Closes every open connection, as a server does with idle ones. */
  readonly hangUp: () => void;
  readonly close: () => Promise<void>;
}

export async function startFakeSmtp(options: FakeSmtpOptions = {}): Promise<FakeSmtp> {
  const dial: SmtpDial = {};
  const received: ReceivedMail[] = [];
  const changes = createChanges();
  const numbers = new Map<string, number>();
  const open = new Set<string>();
  const sockets = new Set<Socket>();
  let connections = 0;

  const server = new SMTPServer({
    ...serverOptions(options),
    onConnect(session, done) {
      numbers.set(session.id, ++connections);
      open.add(session.id);
      changes.announce();
      done(failure(dial.greeting));
    },
    onClose(session) {
      open.delete(session.id);
      changes.announce();
    },
    onAuth(auth, _session, done) {
      const isRight = auth.username === options.auth?.username && auth.password === options.auth?.password;
      if (isRight) done(null, { user: auth.username });
      else done(new Error("5.7.8 wrong name or password"));
    },
    onMailFrom: (_address, _session, done) => done(failure(dial.mail)),
    onRcptTo: ({ address }, _session, done) => done(failure(dial.rcpt?.[address] ?? dial.rcpt?.["*"])),
    onData(stream, session, done) {
      // A connection that drops in the middle of a message ends the stream with an error.
      receive(stream, session).then(
        (refusal) => refusal !== "dropped" && done(refusal, `2.0.0 Ok: queued as Q${received.length}`),
        () => {},
      );
    },
  });
  const receive = async (stream: AsyncIterable<unknown>, session: SMTPServerSession) => {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) {
      if (dial.drop === "during") return hangUp();
      chunks.push(chunk as Buffer);
    }
    if (dial.drop === "after") return hangUp();
    const raw = Buffer.concat(chunks).toString("utf8");
    if (raw.length >= (dial.holdFrom ?? 0)) await dial.holdMessage;
    const refusal = failure(dial.message);
    if (refusal) return refusal;
    const mail = {
      from: session.envelope.mailFrom ? session.envelope.mailFrom.address : "",
      to: session.envelope.rcptTo.map(({ address }) => address),
      raw,
      parsed: await PostalMime.parse(raw),
      connection: numbers.get(session.id) ?? 0,
      isSecure: session.secure,
    };
    received.push(typeof session.user === "string" ? { ...mail, user: session.user } : mail);
    changes.announce();
    return null;
  };
  server.on("error", () => {});
  const hangUp = () => {
    for (const socket of sockets) socket.destroy();
    return "dropped" as const;
  };
  server.server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  return {
    host: "127.0.0.1",
    port: portOf(server.server.address()),
    dial,
    received,
    connections: () => connections,
    mail: (index) => changes.until(() => received[index]),
    openConnections: async (count) => void (await changes.until(() => open.size === count || undefined)),
    hangUp: () => void hangUp(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        hangUp();
      }),
  };
}

function serverOptions({
  tls = "none",
  auth,
  maxOctets,
  smtpUtf8 = true,
  certificate = testTls,
}: FakeSmtpOptions): SMTPServerOptions {
  return {
    secure: tls === "implicit",
    ...certificate,
    authOptional: !auth,
    allowInsecureAuth: true,
    disabledCommands: [...(tls === "starttls" ? [] : ["STARTTLS"]), ...(auth ? [] : ["AUTH"])],
    hideSMTPUTF8: !smtpUtf8,
    ...(maxOctets === undefined ? { hideSize: true } : { size: maxOctets }),
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 100,
  };
}

function failure(reply: SmtpReply | undefined): Error | null {
  return reply ? Object.assign(new Error(reply.text), { responseCode: reply.code }) : null;
}

/** `drop`: the connection ends, after `lastWords` if there are any. `silence`: no answer, ever. `undefined`: the usual answer. */
export type RawAnswer = string | "drop" | "silence" | { readonly lastWords: string } | undefined;

/** `verb` is in capitals: GREETING, EHLO, MAIL, RCPT, DATA, DOT (the message is in), RSET, QUIT … */
export type RawScript = (verb: string, line: string, connection: number) => RawAnswer | Promise<RawAnswer>;

export interface RawSmtp {
  readonly host: string;
  readonly port: number;
  /** Every line a client sent outside of messages. */
  readonly lines: readonly string[];
  readonly connections: () => number;
  /** Resolves when a line that begins with `start` has come in. */
  readonly heard: (start: string) => Promise<string>;
  /** Resolves when `count` connections are open. */
  readonly openConnections: (count: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function startRawSmtp(script: RawScript, port = 0, host = "127.0.0.1"): Promise<RawSmtp> {
  const lines: string[] = [];
  const sockets = new Set<Socket>();
  const changes = createChanges();
  let connections = 0;
  const server = createServer((socket) => {
    const connection = ++connections;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      changes.announce();
    });
    const note = (line: string) => {
      lines.push(line);
      changes.announce();
    };
    // A client that resets the connection ends the loop with an error.
    serveRaw(socket, (verb, line) => script(verb, line, connection), note).catch(() => {});
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return {
    host,
    port: portOf(server.address()),
    lines,
    connections: () => connections,
    heard: (start) => changes.until(() => lines.find((line) => line.startsWith(start))),
    openConnections: async (count) => void (await changes.until(() => sockets.size === count || undefined)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

const USUAL: Record<string, string> = {
  GREETING: "220 raw.test ESMTP",
  EHLO: "250 raw.test",
  DATA: "354 go on",
  DOT: "250 2.0.0 Ok: queued as RAW1",
  QUIT: "221 bye",
};

async function serveRaw(
  socket: Socket,
  answer: (verb: string, line: string) => RawAnswer | Promise<RawAnswer>,
  note: (line: string) => void,
): Promise<void> {
  const reply = async (verb: string, line: string): Promise<string | undefined> => {
    const text = (await answer(verb, line)) ?? USUAL[verb] ?? "250 ok";
    if (typeof text === "object") {
      socket.end(`${text.lastWords}\r\n`);
      return undefined;
    }
    if (text === "drop") socket.destroy();
    else if (text !== "silence") socket.write(`${text}\r\n`);
    return text === "drop" || text === "silence" ? undefined : text;
  };
  await reply("GREETING", "");
  let isMessage = false;
  let rest = "";
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    rest += chunk.toString("latin1");
    for (let end = rest.indexOf("\r\n"); end >= 0; end = rest.indexOf("\r\n")) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 2);
      if (isMessage && line !== ".") continue;
      if (!isMessage) note(line);
      const verb: string = isMessage ? "DOT" : (line.split(/[ :]/)[0] ?? "").toUpperCase();
      const text = await reply(verb, line);
      isMessage = verb === "DATA" && text !== undefined && text.startsWith("3");
      if (verb === "QUIT") socket.end();
    }
  }
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("not listening on a port");
  return address.port;
}
