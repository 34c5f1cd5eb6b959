import type { AddressInfo, Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from "smtp-server";
import type { Clock } from "../../../core/clock.ts";
import { portAdvice } from "../../../core/network/port-advice.ts";
import type { ChannelLog } from "../../channel.ts";
import { createAddressLimit } from "./address-limit.ts";
import { readBeginning } from "./read-beginning.ts";
import type { Returned, ReturnMailHandler } from "./return-mail-handler.ts";

/** How many octets of a mail are read: a report comes before the mail that it quotes. */
const MAX_KEPT_OCTETS = 512 * 1024;
/** How many octets are accepted: some servers quote the whole mail. */
const MAX_OCTETS = 32 * 1024 * 1024;
const MAX_CONNECTIONS = 100;
const MAX_OF_ADDRESS = 20;
const MAX_RECIPIENTS = 100;
const IDLE_MS = 60_000;
const MAX_SESSION_MS = 10 * 60_000;
const CLOSE_MS = 5_000;

interface Tls {
  /** Both are PEM. */
  readonly cert: string;
  readonly key: string;
}

export interface BounceListenerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Absent: no STARTTLS. */
  readonly tls?: Tls;
  readonly handler: ReturnMailHandler;
  readonly clock: Clock;
  readonly log: ChannelLog;
  /** Called for every mail, accepted or refused, after its DATA. */
  readonly onMail: (kind: Returned["kind"] | "unknown_message" | "failed") => void;
}

export interface BounceListener {
  readonly port: number;
  /** Shows this certificate to whoever begins TLS from then on. Throws if it cannot, and goes on with the one from before. */
  renew(tls: Tls): void;
  /** Takes no new connections, and ends those that are open within 10 s. */
  stop(): Promise<void>;
}

/**
 * An SMTP server for returned mail, and nothing else: every recipient must be an address of ours, so it relays for nobody.
 * It answers DATA once the receipt is stored. It sends no mail of its own, so that no loop of bounces about bounces can
 * begin.
 */
export async function openBounceListener(options: BounceListenerOptions): Promise<BounceListener> {
  const server = new SMTPServer({ ...limits(options), ...handlers(options) });
  const sessions = limitSessions(server, options.clock);
  await new Promise<void>((resolve, reject) => {
    server.once("error", ({ message }) => {
      const where = `BOUNCE_PORT: cannot listen on ${options.host}, port ${options.port}`;
      reject(new Error(`${where}: ${message}${portAdvice(message, options.port)}`));
    });
    server.listen(options.port, options.host, resolve);
  });
  server.on("error", (error) =>
    options.log.debug({ reason: error.message }, "a connection of the bounce listener failed"),
  );
  return {
    port: (server.server.address() as AddressInfo).port,
    renew({ cert, key }) {
      // The library would have none left if it cannot make one of these.
      createSecureContext({ cert, key });
      server.updateSecureContext({ cert, key });
    },
    async stop() {
      await new Promise<void>((resolve) => server.close(resolve));
      sessions.end();
    },
  };
}

function limits({ tls }: BounceListenerOptions): SMTPServerOptions {
  return {
    banner: "Postrider takes what comes back",
    size: MAX_OCTETS,
    maxClients: MAX_CONNECTIONS,
    maxRecipients: MAX_RECIPIENTS,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    disableReverseLookup: true,
    authOptional: true,
    disabledCommands: tls ? ["AUTH"] : ["AUTH", "STARTTLS"],
    // RFC 8996: nothing older. The library would take TLS 1.0.
    ...(tls && { cert: tls.cert, key: tls.key, minVersion: "TLSv1.2" as const }),
    logger: false,
  };
}

function handlers(options: BounceListenerOptions): SMTPServerOptions {
  const { handler } = options;
  const tell = createReturnLog(options.log);
  return {
    onRcptTo({ address }, _session, done) {
      done(
        handler.accepts(address)
          ? null
          : reply(550, "5.7.1 this address takes no mail, and nothing is relayed"),
      );
    },
    onData(stream, session, done) {
      readBeginning(stream, MAX_KEPT_OCTETS)
        .then((raw) => take({ ...options, tell }, stream.sizeExceeded ? "too_large" : raw, session))
        .then(
          (answer) => (typeof answer === "string" ? done(null, answer) : done(answer)),
          () => done(reply(451, "4.3.0 it could not be stored; try again later")),
        );
    },
  };
}

async function take(
  { handler, clock, log, onMail, tell }: BounceListenerOptions & { readonly tell: ReturnLog },
  raw: Buffer | "too_large",
  session: SMTPServerSession,
): Promise<string | Error> {
  if (raw === "too_large") return reply(552, "5.3.4 too large");
  const { rcptTo, mailFrom } = session.envelope;
  const to = rcptTo.map(({ address }) => address);
  const from = mailFrom ? mailFrom.address : "";
  try {
    const returned = await handler.handle({ raw, to, from, at: clock.now() });
    onMail(returned.results.includes("unknown") ? "unknown_message" : returned.kind);
    tell(returned);
    if (returned.kind === "no_mailbox")
      return reply(550, "5.6.0 only delivery and feedback reports are read here");
    return "2.0.0 Ok";
  } catch (error) {
    onMail("failed");
    log.warn({ err: error }, "a mail that came back could not be stored");
    throw error;
  }
}

type ReturnLog = (returned: Returned) => void;

/** How often a message may really come back: it has no more recipients than that. */
const MAX_OF_MESSAGE = 50;

/** How many messages have their returned mails counted. */
const MAX_COUNTED = 1_000;

/** Logs returned mails. Anybody who has a mail can send it back any number of times: excess returns only go to the debug log. */
function createReturnLog(log: ChannelLog): ReturnLog {
  const counts = new Map<string, number>();
  const isExcess = (name: string) => {
    const count = (counts.get(name) ?? 0) + 1;
    if (count === 1 && counts.size >= MAX_COUNTED) counts.clear();
    counts.set(name, count);
    return count > MAX_OF_MESSAGE;
  };
  return ({ kind, results, messageIds, code }) => {
    const message_ids = messageIds.slice(0, 10);
    const fields = { kind, results, message_ids, ...(code !== undefined && { code }) };
    const isMove = messageIds.length > 0;
    if (!isMove) log.debug(fields, "a mail came back that moves nothing");
    else if (isExcess(`${kind} ${message_ids}`)) log.debug(fields, "a mail came back once more");
    else log.info(fields, "a mail came back");
  };
}

/** Bounds how long a session may last, and how many one address may have open. */
function limitSessions(server: SMTPServer, clock: Clock): { readonly end: () => void } {
  const limit = createAddressLimit(MAX_OF_ADDRESS);
  const open = new Map<Socket, () => void>();
  const leave = (socket: Socket) => {
    open.get(socket)?.();
    open.delete(socket);
  };
  // STARTTLS removes the listeners of a socket, so that its `close` is not heard.
  const sweep = () => {
    for (const socket of open.keys()) if (socket.destroyed) leave(socket);
  };
  server.server.on("connection", (socket: Socket) => {
    sweep();
    const release = limit.admit(socket.remoteAddress ?? "");
    socket.on("error", () => {});
    if (!release) return void socket.destroy();
    const cancel = clock.after(MAX_SESSION_MS, () => {
      socket.destroy();
      leave(socket);
    });
    open.set(socket, () => {
      cancel();
      release();
    });
    socket.once("close", () => leave(socket));
  });
  return {
    end: () => {
      for (const socket of open.keys()) socket.destroy();
    },
  };
}

function reply(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}
