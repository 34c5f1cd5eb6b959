import SmtpConnection, { type SMTPConnectionOptions } from "nodemailer/lib/smtp-connection";
import type { Clock } from "../../../core/clock.ts";
import { errorText } from "../../../core/error-text.ts";
import type { MessageError } from "../../../core/messages/message.ts";
import { present } from "../../../core/present.ts";
import { isMissing, withLocalAddressAdvice } from "../../local-address.ts";
import { withoutEcho } from "../../without-echo.ts";
import { beginAt354 } from "./nodemailer/begin-at-354.ts";
import { joinBlanksOfChallenge } from "./nodemailer/join-blanks-of-challenge.ts";
import { knowExtensions } from "./nodemailer/know-extensions.ts";
import { limitChallenges } from "./nodemailer/limit-challenges.ts";
import { limitDrips } from "./nodemailer/limit-drips.ts";
import { limitReplies } from "./nodemailer/limit-replies.ts";
import { readAtOnce } from "./nodemailer/read-at-once.ts";
import { refuseDoubtful } from "./nodemailer/refuse-doubtful.ts";
import { waitForGreeting } from "./nodemailer/wait-for-greeting.ts";
import type { HostSettings } from "./smtp-config.ts";
import {
  afterTold,
  isSessionFault,
  isUsedUp,
  MAX_REPLY_READ,
  type TransactionReport,
  toOneLine,
  toReplyLine,
  wasTold,
  withWords,
} from "./smtp-replies.ts";
import { type FilledEnvelope, runTransaction, type TransactionLimits } from "./smtp-transaction.ts";

/** One connection that is greeted, secured and authenticated. */
export interface SmtpSession {
  readonly isSecure: boolean;
  readonly takesSmtpUtf8: boolean;
  /** Whether the server offers the DSN extension (RFC 3461). */
  readonly takesDsn: boolean;
  /** Messages handed over so far. */
  readonly messages: () => number;
  readonly isOpen: () => boolean;
  /** Sends one envelope and reports what became of it; afterwards the session is open only if it can take another. */
  readonly transact: (envelope: FilledEnvelope, limits: TransactionLimits) => Promise<TransactionReport>;
  /** QUIT; resolves when the connection has ended, after at most 2 s. */
  readonly quit: () => Promise<void>;
}

export type OpenedSession = { readonly session: SmtpSession } | NotOpened;

interface NotOpened {
  readonly fault: MessageError;
  /** What the server answered where it could not be connected to. */
  readonly reply?: string;
  /** This machine does not have `localAddress`, by the system's own code: words may be the server's. */
  readonly lacksLocalAddress?: true;
}

/** Connects and logs in, within the settings' timeouts. The reason of `signal` (a string) becomes the fault's message. */
export async function openSmtpSession(
  settings: HostSettings,
  clock: Clock,
  signal: AbortSignal,
): Promise<OpenedSession> {
  const opened = await openOnce(settings, clock, signal);
  // Opportunistic TLS does not protect against an attacker, who could also hide the offer: so go on without it.
  const mayGoBare = settings.tls === "opportunistic" && !settings.auth;
  if ("fault" in opened && opened.fault.code === "smtp.tls" && mayGoBare) {
    return openOnce({ ...settings, tls: "none" }, clock, signal);
  }
  return opened;
}

async function openOnce(settings: HostSettings, clock: Clock, signal: AbortSignal): Promise<OpenedSession> {
  const connection = new SmtpConnection(connectionOptions(settings));
  // An `error` event without a listener would end the process. The errors are also reported to the callbacks.
  connection.on("error", () => {});
  waitForGreeting(connection);
  limitReplies(connection);
  readAtOnce(connection);
  refuseDoubtful(connection);
  beginAt354(connection);
  limitDrips(connection, clock);
  const extensions = knowExtensions(connection);
  const tidied = withoutPassword(settings);
  const connectFault = await settled(connection, signal, (done) => connection.connect(done));
  // It may repeat what another connection told it.
  if (connectFault) {
    const words = withoutStartTls(connectFault, settings, extensions());
    const message = withLocalAddressAdvice(words, settings.localAddress);
    const lacksAddress = settings.localAddress !== undefined && isMissing(connectFault.systemCode ?? "");
    const opened = faultOf({ ...connectFault, message }, tidied);
    return lacksAddress ? { ...opened, lacksLocalAddress: true } : opened;
  }
  const loginFault = await login(connection, settings, signal);
  if (loginFault) {
    connection.close();
    return { fault: faultOf(loginFault, tidied).fault };
  }
  return { session: toSession(connection, { clock, extensions: extensions(), tidied }) };
}

/** Where TLS is required, the library asks for it also where it is not offered: the answer alone (`503 Invalid command`) explains nothing. */
function withoutStartTls(
  { code, message }: SessionFault,
  { tls }: HostSettings,
  extensions: ReadonlySet<string>,
): string {
  const isNotOffered = tls === "required" && code === "smtp.tls" && !extensions.has("STARTTLS");
  return isNotOffered ? `the server offers no STARTTLS: ${message}` : message;
}

interface SessionFault extends MessageError {
  readonly reply?: string;
  /** The system's, such as `ECONNREFUSED`. */
  readonly systemCode?: string;
}

function faultOf({ code, message, reply }: SessionFault, tidied: (words: string) => string) {
  return { fault: { code, message: tidied(message) }, ...present({ reply }) };
}

function connectionOptions(settings: HostSettings): SMTPConnectionOptions {
  const { tls } = settings;
  return {
    host: settings.host,
    port: settings.port,
    secure: tls === "implicit",
    requireTLS: tls === "required",
    ignoreTLS: tls === "none",
    opportunisticTLS: tls === "opportunistic",
    tls: {
      rejectUnauthorized: tls !== "opportunistic",
      minVersion: "TLSv1.2",
      ...(settings.ca !== undefined && { ca: settings.ca }),
      ...(settings.servername !== undefined && { servername: settings.servername }),
    },
    ...(settings.localAddress !== undefined && { localAddress: settings.localAddress }),
    ...(settings.ehloName !== undefined && { name: settings.ehloName }),
    connectionTimeout: settings.connectTimeoutMs,
    dnsTimeout: settings.connectTimeoutMs,
    greetingTimeout: settings.greetingTimeoutMs,
    socketTimeout: settings.responseTimeoutMs,
    maxResponseSize: 65_536,
    logger: false,
  };
}

async function login(
  connection: SmtpConnection,
  { auth, tls }: HostSettings,
  signal: AbortSignal,
): Promise<SessionFault | undefined> {
  if (!auth) return undefined;
  if (!connection.secure && tls !== "none") {
    return {
      code: "smtp.tls",
      message: "the server offers no TLS, and the password is not sent in the clear",
    };
  }
  if (!connection.allowsAuth) return { code: "smtp.auth", message: "the server offers no AUTH" };
  const { username, password } = auth;
  return settled(connection, signal, (done) => {
    limitChallenges(connection, () => done(keepsAsking()));
    joinBlanksOfChallenge(connection);
    connection.login({ user: username, pass: password }, done);
  });
}

/** Some servers repeat the command that they refuse, or one from before. */
function withoutPassword({ auth }: Pick<HostSettings, "auth">): (words: string) => string {
  if (!auth) return (words) => words;
  return (words) => withoutEcho(words.slice(0, MAX_REPLY_READ), { secrets: [auth.password] });
}

function keepsAsking(): ConnectionError {
  return Object.assign(new Error("the server asks for the password without end"), { code: "EAUTH" });
}

interface ConnectionError extends Error {
  readonly code?: string | undefined;
  readonly originalCode?: string | undefined;
  readonly response?: string | undefined;
}

/** Waits for one step of opening a session; resolves with its fault, or `undefined` if it succeeded. */
function settled(
  connection: SmtpConnection,
  signal: AbortSignal,
  begin: (done: (error?: ConnectionError | null) => void) => void,
): Promise<SessionFault | undefined> {
  return new Promise((resolve) => {
    const finish = (fault?: SessionFault) => {
      signal.removeEventListener("abort", onAbort);
      connection.off("error", onError).off("end", onEnd);
      resolve(fault);
    };
    const fail = (error: ConnectionError, isUpgrading = false) => {
      // Who has gone silent may have refused something before that they need not offer.
      const isSilent = error.code === "ETIMEDOUT";
      finish(toFault(error, isUpgrading, isSilent ? undefined : refusalIn(connection.lastServerResponse)));
    };
    const onError = (error: ConnectionError) => fail(error, connection.upgrading === true);
    const onEnd = () => fail(new Error("the server closed the connection"));
    const onAbort = () => {
      finish({ code: "smtp.timeout", message: String(signal.reason) });
      connection.close();
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort);
    connection.on("error", onError).on("end", onEnd);
    begin((error) => (error ? fail(error) : finish()));
  });
}

/** Some servers refuse EHLO and then close, instead of hearing HELO: they have said why. */
function refusalIn(lastReply: string | false | undefined): string | undefined {
  return lastReply && /^[45]/.test(lastReply) ? lastReply : undefined;
}

function toFault(error: ConnectionError, isUpgrading: boolean, refusal?: string): SessionFault {
  const { code, originalCode = "", response = refusal } = error;
  const isTls = isUpgrading || code === "ETLS" || /CERT|TLS|SSL|VERIFY|ISSUER/.test(originalCode);
  const text = response ? toReplyLine(response) : toOneLine(errorText(error));
  if (isTls)
    return { code: "smtp.tls", message: originalCode ? toOneLine(`${text} (${originalCode})`) : text };
  // 4yz to AUTH says nothing of the password: the server cannot look at it now (RFC 4954 §6).
  const isUnjudged = code === "EAUTH" && /^4/.test(response ?? "");
  const faultCode = (!isUnjudged && FAULT_CODES[code ?? ""]) || "smtp.connect";
  return { code: faultCode, message: text, ...present({ reply: response, systemCode: error.originalCode }) };
}

const FAULT_CODES: Readonly<Record<string, string>> = {
  EAUTH: "smtp.auth",
  EDNS: "smtp.dns",
  ETIMEDOUT: "smtp.timeout",
};

interface SessionParts {
  readonly clock: Clock;
  /** Those that the server offers. */
  readonly extensions: ReadonlySet<string>;
  /** What may be told of the server's words. */
  readonly tidied: (words: string) => string;
}

function toSession(connection: SmtpConnection, { clock, extensions, tidied }: SessionParts): SmtpSession {
  let messages = 0;
  let isTold = false;
  return {
    isSecure: connection.secure,
    takesSmtpUtf8: extensions.has("SMTPUTF8"),
    takesDsn: extensions.has("DSN"),
    messages: () => messages,
    isOpen: () => !connection.destroyed,
    async transact(envelope, limits) {
      messages++;
      const report = await runTransaction(connection, envelope, limits);
      if (messages > 1 && isUsedUp(report)) connection.close();
      else await makeReady(connection, report, limits.signal);
      const words = withWords(report, tidied);
      const known = isTold ? afterTold(words) : words;
      isTold ||= wasTold(report);
      return known;
    },
    quit: () => quit(connection, clock),
  };
}

/** A refused envelope is still open on the server's side (RFC 5321 §4.1.1.5); a session it objects to is given up. */
async function makeReady(
  connection: SmtpConnection,
  { end }: TransactionReport,
  signal: AbortSignal,
): Promise<void> {
  if (end.kind === "taken") return;
  const isBad = "reply" in end && isSessionFault(end.reply);
  const fault = isBad || (await settled(connection, signal, (done) => connection.reset(done)));
  if (fault) connection.close();
}

const QUIT_LIMIT_MS = 2_000;

function quit(connection: SmtpConnection, clock: Clock): Promise<void> {
  if (connection.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const giveUp = clock.after(QUIT_LIMIT_MS, () => connection.close());
    connection.once("end", () => {
      giveUp();
      resolve();
    });
    connection.quit();
  });
}
