import type { ReceivedSms } from "../../../../core/inbound/inbound.ts";
import type { DefaultAlphabet } from "../../../../core/sms/sms-segments.ts";
import type { ChannelDeps } from "../../../channel.ts";
import type { ShortMessage } from "../wire/pdu.ts";
import { STATUS_OK } from "../wire/status-words.ts";
import { type HandsetMessage, readHandsetMessage } from "./handset-message.ts";
import { createStoreLine } from "./store-line.ts";

/** Takes messages from handsets: stores them, and only then acknowledges them. */
export interface HandsetInbox {
  /** The inbox of one session: whether a message is a repeat depends on what was acknowledged on which session. */
  open(): SessionInbox;
}

interface SessionInbox {
  take(message: ShortMessage, acknowledge: (status: number) => void): void;
  /** The session has ended: its last acknowledgements may not have reached the SMSC. */
  close(): void;
}

export interface HandsetInboxOptions {
  readonly connectorId: string;
  /** How the SMSC writes text in its default data coding. */
  readonly alphabet: DefaultAlphabet;
  readonly storeTimeoutMs: number;
}

/** An SMSC delivers a message that was not acknowledged again within this time. */
const REPEATS_WITHIN_MS = 10 * 60_000;

/** An acknowledgement has arrived if its session lived at least this long after it. */
const ARRIVES_WITHIN_MS = 30_000;

/** Acknowledged messages that are remembered. */
const MAX_REMEMBERED = 5_000;

interface Acknowledged {
  /** The session it was acknowledged on; `endedMs`, once that has ended, on the monotonic clock. */
  readonly session: { endedMs?: number };
  readonly atMs: number;
}

type InboxDeps = Pick<ChannelDeps, "clock" | "log" | "onInbound">;

export function createHandsetInbox(options: HandsetInboxOptions, deps: InboxDeps): HandsetInbox {
  const { connectorId, alphabet, storeTimeoutMs } = options;
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
  let repeats = 0;

  const toReceived = ({ fingerprint, ...message }: HandsetMessage): ReceivedSms => ({
    ...message,
    connectorId,
    segments: 1,
    receivedAt: clock.now(),
    key: memory.isLastKnownTaken(fingerprint) ? `${fingerprint}.${clock.now()}.${++repeats}` : fingerprint,
    sameSince: clock.now() - REPEATS_WITHIN_MS,
  });

  return {
    open() {
      const session: Acknowledged["session"] = {};
      return {
        take(message, acknowledge) {
          const read = readHandsetMessage(message, alphabet);
          line.join(toReceived(read), (status) => {
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

/** When the last message with a given fingerprint was acknowledged, and on which session. */
function createMemory() {
  const acknowledged = new Map<string, Acknowledged>();
  return {
    remember(fingerprint: string, entry: Acknowledged) {
      acknowledged.delete(fingerprint);
      acknowledged.set(fingerprint, entry);
      if (acknowledged.size > MAX_REMEMBERED) acknowledged.delete(acknowledged.keys().next().value ?? "");
    },
    /** Whether the SMSC knows that the last one with this fingerprint was taken: then another is a new message, and no repeat. */
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
