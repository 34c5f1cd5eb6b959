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

/** How many acknowledged messages are remembered. */
const MAX_REMEMBERED = 5_000;

interface Acknowledged {
  /** The session that it was acknowledged on. `endedMs`: when that ended, on the monotonic clock; absent while it goes on. */
  readonly session: { endedMs?: number };
  readonly atMs: number;
}

type InboxDeps = Pick<ChannelDeps, "clock" | "log" | "onInbound">;

export function createHandsetInbox(options: HandsetInboxOptions, deps: InboxDeps): HandsetInbox {
  const { connectorId, storeTimeoutMs } = options;
  const { clock } = deps;
  const line = createStoreLine<ReceivedSms>(
    {
      noun: "messages from handsets",
      connectorId,
      timeoutMs: storeTimeoutMs,
      store: deps.onInbound ?? refuse,
    },
    deps,
  );
  const memory = createMemory();
  const keyOf = createKeys(memory, clock);

  const toReceived = ({ fingerprint, ...message }: HandsetMessage, copy: number): ReceivedSms => ({
    ...message,
    connectorId,
    segments: 1,
    receivedAt: clock.now(),
    key: keyOf(fingerprint, copy),
    sameSince: clock.now() - REPEATS_WITHIN_MS,
    hasNoId: true,
  });

  return {
    open() {
      const session: Acknowledged["session"] = {};
      const unanswered = createUnanswered(clock);
      return {
        take(message, acknowledge) {
          const read = readHandsetMessage(message, options);
          const { copy, answered } = unanswered.add(read.fingerprint);
          line.join(toReceived(read, copy), (status) => {
            answered();
            const atMs = clock.monotonicMs();
            if (status === STATUS_OK) memory.remember(read.fingerprint, { session, atMs });
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

/** Makes the keys by which repeats are found. `copy`: as `Unanswered` numbers it. */
function createKeys(memory: ReturnType<typeof createMemory>, clock: InboxDeps["clock"]) {
  let repeats = 0;
  return (fingerprint: string, copy: number): string => {
    if (memory.isLastKnownTaken(fingerprint)) return `${fingerprint}.${clock.now()}.${++repeats}`;
    // The same for the same copy: a connection that is lost before the answers brings all of them again.
    return copy === 1 ? fingerprint : `${fingerprint}.${copy}`;
  };
}

/** Remembers when the last message with a fingerprint was acknowledged, and on which session. */
function createMemory() {
  const acknowledged = new Map<string, Acknowledged>();
  return {
    remember(fingerprint: string, entry: Acknowledged) {
      acknowledged.delete(fingerprint);
      acknowledged.set(fingerprint, entry);
      if (acknowledged.size > MAX_REMEMBERED) acknowledged.delete(acknowledged.keys().next().value ?? "");
    },
    /** Whether the SMSC knows that the last message with this fingerprint was taken: then another one is new, not a repeat. */
    isLastKnownTaken(fingerprint: string): boolean {
      const last = acknowledged.get(fingerprint);
      if (!last) return false;
      return (last.session.endedMs ?? Number.POSITIVE_INFINITY) - last.atMs > ARRIVES_WITHIN_MS;
    },
  };
}

function refuse(): Promise<never> {
  return Promise.reject(new Error("nobody takes them"));
}
