import { errorText } from "../../../../core/error-text.ts";
import type { ReceivedSms } from "../../../../core/inbound/inbound.ts";
import type { ChannelDeps } from "../../../channel.ts";
import type { ShortMessage } from "../wire/pdu.ts";
import { STATUS_OK } from "../wire/status-words.ts";
import { type HandsetMessage, readHandsetMessage, type SmscDefaults } from "./handset-message.ts";
import { type DeliverySession, type InboundKeys, REPEATS_WITHIN_MS } from "./inbound-keys.ts";
import { createStoreLine } from "./store-line.ts";
import { createUnanswered } from "./unanswered.ts";

/** Receives messages from handsets: stores them, and only then acknowledges them. */
export interface HandsetInbox {
  /** Opens the inbox of one session. Whether a message is a repeat depends on the session that it was acknowledged on. */
  open(): SessionInbox;
  /**
   * To be called when all sessions have ended: the same words that are written later, after a restart too, are no repeats of what
   * the SMSC is known to have been answered. Never throws.
   */
  settle(): Promise<void>;
}

interface SessionInbox {
  take(message: ShortMessage, acknowledge: (status: number) => void): void;
  /** To be called when the session has ended: its last acknowledgements may not have reached the SMSC, unless it has read them. */
  close(end: Pick<NonNullable<DeliverySession["end"]>, "readUntilMs">): void;
}

export interface HandsetInboxOptions {
  readonly connectorId: string;
  readonly storeTimeoutMs: number;
  /** How the SMSC writes at present. */
  readonly defaults: () => SmscDefaults;
  /** The connector's: it remembers what was acknowledged before the connector was reopened. */
  readonly keys: InboundKeys;
}

type InboxDeps = Pick<ChannelDeps, "clock" | "log" | "onInbound" | "onInboundKnown">;

export function createHandsetInbox(options: HandsetInboxOptions, deps: InboxDeps): HandsetInbox {
  const { connectorId, storeTimeoutMs: timeoutMs, keys } = options;
  const { clock } = deps;
  const named = { noun: "messages from handsets", connectorId, timeoutMs };
  const unanswered = createUnanswered(clock);
  const line = createStoreLine<ReceivedSms>({ ...named, store: deps.onInbound }, deps);

  const toReceived = ({ fingerprint, ...message }: HandsetMessage, copy: number): ReceivedSms => {
    const receivedAt = clock.now();
    const sameSince = receivedAt - REPEATS_WITHIN_MS;
    const key = keys.of(fingerprint, { copy, receivedAt, sameSince });
    return { ...message, connectorId, receivedAt, ...key, sameSince, hasNoId: true };
  };

  return {
    async settle() {
      const since = clock.now() - REPEATS_WITHIN_MS;
      const span = unanswered.isEmpty() ? keys.knownSpan(since) : undefined;
      if (!span) return;
      // If this is not stored, what comes later is compared as after a crash.
      await deps
        .onInboundKnown(span)
        .catch((error) =>
          deps.log.debug({ connector: connectorId, reason: errorText(error) }, "acknowledgements not noted"),
        );
    },
    open() {
      const session: DeliverySession = {};
      return {
        take(message, acknowledge) {
          const read = readHandsetMessage(message, options.defaults());
          const { copy, answered } = unanswered.add(read.fingerprint, session);
          const received = toReceived(read, copy);
          line.join(received, (status) => {
            answered();
            const answer = { received, session, atMs: clock.monotonicMs() };
            if (status === STATUS_OK) keys.taken(read.fingerprint, answer);
            else keys.refused(read.fingerprint, answer);
            acknowledge(status);
          });
        },
        close({ readUntilMs }) {
          session.end ??= { atMs: clock.monotonicMs(), readUntilMs };
        },
      };
    },
  };
}
