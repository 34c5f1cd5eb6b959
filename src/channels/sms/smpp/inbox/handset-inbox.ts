import type { ReceivedSms } from "../../../../core/inbound/inbound.ts";
import type { ChannelDeps } from "../../../channel.ts";
import type { ShortMessage } from "../wire/pdu.ts";
import { STATUS_OK } from "../wire/status-words.ts";
import { type HandsetMessage, readHandsetMessage, type SmscDefaults } from "./handset-message.ts";
import { createStoreLine } from "./store-line.ts";
import { createUnanswered } from "./unanswered.ts";

/** Receives messages from handsets: stores them, and only then acknowledges them. */
export interface HandsetInbox {
  /** Opens the inbox of one session. Whether a message is a repeat depends on the session that it was acknowledged on. */
  open(): SessionInbox;
}

interface SessionInbox {
  take(message: ShortMessage, acknowledge: (status: number) => void): void;
  /** To be called when the session has ended: its last acknowledgements may not have reached the SMSC. */
  close(): void;
}

export interface HandsetInboxOptions extends SmscDefaults {
  readonly connectorId: string;
  readonly storeTimeoutMs: number;
}

/** If a message was not acknowledged, the SMSC delivers it again within this time. */
const REPEATS_WITHIN_MS = 10 * 60_000;

/** If its session went on for this long after an acknowledgement, that has surely reached the SMSC. */
const ARRIVES_WITHIN_MS = 30_000;

/** 83 in a second for as long as repeats are looked for. Twice as many take 22 MB. */
const REMEMBERED = 50_000;

interface Answered extends Pick<ReceivedSms, "receivedAt"> {
  /** Its key, if that is not the one of what it says. */
  readonly ownKey?: string | undefined;
  /** The session that it was answered on. `endedMs`: when that ended, on the monotonic clock; absent while it goes on. */
  readonly session: { endedMs?: number };
  readonly atMs: number;
}

type InboxDeps = Pick<ChannelDeps, "clock" | "log" | "onInbound">;

/** @param remembered how many messages are remembered at least; twice as many are at most */
export function createHandsetInbox(
  options: HandsetInboxOptions,
  deps: InboxDeps,
  remembered = REMEMBERED,
): HandsetInbox {
  const { connectorId, storeTimeoutMs: timeoutMs } = options;
  const { clock } = deps;
  const named = { noun: "messages from handsets", connectorId, timeoutMs };
  const line = createStoreLine<ReceivedSms>({ ...named, store: deps.onInbound }, deps);
  const memory = createMemory(remembered);
  const keyOf = createKeys(memory);

  const toReceived = ({ fingerprint, ...message }: HandsetMessage, copy: number): ReceivedSms => {
    const receivedAt = clock.now();
    const sameSince = receivedAt - REPEATS_WITHIN_MS;
    const keys = keyOf(fingerprint, { copy, receivedAt, sameSince });
    return { ...message, connectorId, segments: 1, receivedAt, ...keys, sameSince, hasNoId: true };
  };

  return {
    open() {
      const session: Answered["session"] = {};
      const unanswered = createUnanswered(clock);
      return {
        take(message, acknowledge) {
          const read = readHandsetMessage(message, options);
          const { copy, answered } = unanswered.add(read.fingerprint);
          const received = toReceived(read, copy);
          line.join(received, (status) => {
            answered();
            const atMs = clock.monotonicMs();
            if (status === STATUS_OK) memory.remember(read.fingerprint, { received, session, atMs });
            // It comes again with the same key, since it may have been stored all the same.
            else if (received.isKnownNew)
              memory.remember(read.fingerprint, { received, session: { endedMs: atMs }, atMs });
            acknowledge(status);
          });
        },
        close() {
          session.endedMs ??= clock.monotonicMs();
        },
      };
    },
  };
}

interface Coming extends Pick<ReceivedSms, "receivedAt" | "sameSince"> {
  /** As `Unanswered` numbers it. */
  readonly copy: number;
}

/**
 * Makes the keys by which repeats are found. The key is what the message says, by which it is found also after a restart, unless it
 * would be taken for a repeat of another one that way.
 */
function createKeys(memory: ReturnType<typeof createMemory>) {
  let made = 0;
  return (
    fingerprint: string,
    { copy, receivedAt, sameSince }: Coming,
  ): Pick<ReceivedSms, "key" | "isKnownNew"> => {
    const last = memory.last(fingerprint);
    const isRecent = last !== undefined && last.receivedAt >= sameSince;
    if (isRecent && isKnownTaken(last))
      return { key: `${fingerprint}.${receivedAt}.${++made}`, isKnownNew: true };
    // The same for the same copy: a connection that is lost before the answers brings all of them again.
    if (copy > 1) return { key: `${fingerprint}.${copy}` };
    return { key: (isRecent && last.ownKey) || fingerprint };
  };
}

/** Whether the SMSC knows that we have the message: then another one that says the same is new, not a repeat. */
function isKnownTaken({ session, atMs }: Answered): boolean {
  return (session.endedMs ?? Number.POSITIVE_INFINITY) - atMs > ARRIVES_WITHIN_MS;
}

interface Answer extends Pick<Answered, "session" | "atMs"> {
  readonly received: ReceivedSms;
}

/**
 * Remembers the last message with a fingerprint that was answered, and on which session. In two generations, of which the older one
 * goes as a whole: to take the first entry of a long map away, again and again, costs more than everything else here.
 */
function createMemory(remembered: number) {
  let young = new Map<string, Answered>();
  let old = young;
  let sinceMs = Number.NEGATIVE_INFINITY;
  const last = (fingerprint: string) => young.get(fingerprint) ?? old.get(fingerprint);
  return {
    last,
    remember(fingerprint: string, { received, session, atMs }: Answer) {
      if (young.size >= remembered || atMs - sinceMs > REPEATS_WITHIN_MS) {
        [old, young] = [young, new Map()];
        sinceMs = atMs;
      }
      const { key, receivedAt, isKnownNew } = received;
      const ownKey = isKnownNew || last(fingerprint)?.ownKey === key ? key : undefined;
      young.set(fingerprint, { ownKey, receivedAt, session, atMs });
    },
  };
}
