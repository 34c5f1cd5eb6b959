import type { Receipt, ReceiptResult } from "../../../core/messages/outcome.ts";
import type { PartAddresses } from "../part-address.ts";
import type { UnsubscribeTokens, Unsubscription } from "../unsubscribe-token.ts";
import { toBounceReceipt, toUnsubscribeReceipt } from "./bounce-receipts.ts";
import { findTarget, findUnsubscription } from "./find-target.ts";
import { decodedWords } from "./mime.ts";
import { type ReturnMail, readReturnMail } from "./return-mail.ts";

/** What became of one returned mail, for the log and the metrics. No addresses. */
export interface Returned {
  readonly kind: ReturnMail["kind"] | "unsubscribe" | "no_mailbox";
  /** What became of its receipts; empty where it has none. */
  readonly results: readonly ReceiptResult["kind"][];
  readonly messageIds: readonly string[];
  readonly code?: string;
}

export interface ReturnMailHandlerDeps {
  readonly returnPaths: PartAddresses;
  readonly unsubscribeAddresses: PartAddresses;
  readonly unsubscribes: UnsubscribeTokens;
  /** Stores receipts; resolves when they are durable. */
  readonly receive: (receipts: readonly Receipt[]) => Promise<readonly ReceiptResult[]>;
  readonly suppress: (wish: Unsubscription, reason: "unsubscribe" | "complaint") => Promise<void>;
}

/** Handles mail to return paths, to unsubscribe addresses, and to `postmaster` and `abuse` (RFC 2142). */
export interface ReturnMailHandler {
  /** Whether mail to this address is accepted. */
  accepts(address: string): boolean;
  /** Resolves when all that the mail reports is stored; rejects if the store fails. */
  handle(mail: {
    /** The mail, or its beginning. */
    readonly raw: Uint8Array;
    /** The addresses it was sent to (the envelope's). */
    readonly to: readonly string[];
    /** The envelope's sender; empty: nobody, as of bounces. */
    readonly from: string;
    /** Unix milliseconds when it came. */
    readonly at: number;
  }): Promise<Returned>;
}

export function createReturnMailHandler(deps: ReturnMailHandlerDeps): ReturnMailHandler {
  const { returnPaths, unsubscribeAddresses } = deps;
  return {
    accepts: (address) =>
      (returnPaths.read(address) ?? unsubscribeAddresses.read(address)) !== undefined || ROLE.test(address),
    async handle({ raw, to, from, at }) {
      const mail = readReturnMail(raw, from === "");
      // A bounce of such a mail, or an automatic answer, is no wish.
      const asked = mail.kind === "other" ? to.flatMap((one) => unsubscribeAddresses.read(one) ?? []) : [];
      const wish = asked.length > 0 ? wishOf(deps, mail.subject) : undefined;
      if (wish) await deps.suppress(wish, "unsubscribe");
      const unnamed = wish ? [] : asked.map((target) => toUnsubscribeReceipt(target, at));
      const bounced = targetsOf(deps, { raw, to, mail }).flatMap(
        (target) => toBounceReceipt(mail, target, at) ?? [],
      );
      const receipts = [...unnamed, ...bounced];
      const results = receipts.length > 0 ? await deps.receive(receipts) : [];
      const late = results.every(({ kind }) => kind === "unknown")
        ? lateComplaint(deps, mail, raw)
        : undefined;
      if (late) await deps.suppress(late.of, late.reason);
      const code = receipts[0]?.error?.code;
      const done = wish ?? late?.of;
      return {
        kind: asked.length > 0 ? "unsubscribe" : isUnreadable(mail, to) ? "no_mailbox" : mail.kind,
        results: late ? [] : results.map((result) => result.kind),
        messageIds: done ? [done.messageId] : receipts.flatMap(({ target }) => target?.messageId ?? []),
        ...(code !== undefined && { code }),
      };
    },
  };
}

/** Feedback loops write to these, and so do people; only reports are read. */
const ROLE = /^(?:postmaster|abuse)(?:@|$)/i;

function isUnreadable({ kind }: ReturnMail, to: readonly string[]): boolean {
  return kind === "other" && to.every((address) => ROLE.test(address));
}

/**
 * The wish to unsubscribe, by the token that the link put into the mail's subject; some mail clients write such a long subject in
 * encoded words. The token works even after the message is gone. Without it, the address tells whose wish it is.
 */
function wishOf({ unsubscribes }: ReturnMailHandlerDeps, subject: string): Unsubscription | undefined {
  return unsubscribes.open(decodedWords(subject).replace(/\s/g, ""));
}

/**
 * A complaint whose message is gone, since feedback loops may report weeks later, or whose return path the report leaves out. The
 * unsubscribe link of the mail that it quotes tells whose it is.
 */
function lateComplaint({ unsubscribes }: ReturnMailHandlerDeps, mail: ReturnMail, raw: Uint8Array) {
  if (mail.kind !== "feedback" || mail.feedback.kind === "none") return undefined;
  const of = findUnsubscription(raw, unsubscribes);
  return of && { of, reason: mail.feedback.kind };
}

interface Arrived {
  readonly raw: Uint8Array;
  readonly to: readonly string[];
  readonly mail: ReturnMail;
}

/** The recipients the mail is about: those of the return paths it came to, or else of the one that it quotes. */
function targetsOf({ returnPaths }: ReturnMailHandlerDeps, { raw, to, mail }: Arrived) {
  const named = to.flatMap((address) => returnPaths.read(address) ?? []);
  const isReport = mail.kind === "dsn" || mail.kind === "feedback";
  if (named.length > 0 || !isReport || !to.some((address) => ROLE.test(address))) return named;
  return [findTarget(raw, returnPaths) ?? []].flat();
}
