import type { ReceivedSms } from "../../../core/inbound/inbound.ts";
import type { DefaultAlphabet } from "../../../core/sms/sms-segments.ts";
import type { ChannelDeps } from "../../channel.ts";
import { type HandsetMessage, readHandsetMessage } from "./handset-message.ts";
import type { ShortMessage } from "./pdu.ts";
import { STATUS_OK } from "./status-words.ts";
import { createStoreLine } from "./store-line.ts";

/** Takes what handsets write: stores it, then acknowledges it. */
export interface HandsetInbox {
  /** One session's door. */
  open(): HandsetDoor;
  /** Resolves when nothing waits to be stored. */
  whenEmpty(): Promise<void>;
}

export interface HandsetDoor {
  take(message: ShortMessage, acknowledge: (status: number) => void): void;
  /** The session has ended: what it acknowledged last the SMSC may not know of. */
  close(): void;
}

export interface HandsetInboxOptions {
  readonly connectorId: string;
  /** How the SMSC writes text in its default data coding. */
  readonly alphabet: DefaultAlphabet;
  readonly storeTimeoutMs: number;
}

/** An SMSC repeats what it has no answer to within this time. */
const REPEATS_WITHIN_MS = 10 * 60_000;

/** An answer is known to have arrived when its session has lived so long since. */
const ARRIVES_WITHIN_MS = 30_000;

/** Messages remembered as acknowledged. */
const MAX_REMEMBERED = 5_000;

interface Acknowledged {
  readonly visit: { endedMs?: number };
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
      store: deps.onInbound ?? nobody,
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
    key: memory.isNew(fingerprint) ? `${fingerprint}.${clock.now()}.${++repeats}` : fingerprint,
    sameSince: clock.now() - REPEATS_WITHIN_MS,
  });

  return {
    open() {
      const visit: Acknowledged["visit"] = {};
      return {
        take(message, acknowledge) {
          const read = readHandsetMessage(message, alphabet);
          line.join(toReceived(read), (status) => {
            const atMs = clock.monotonicMs();
            if (status === STATUS_OK) memory.remember(read.fingerprint, { visit, atMs });
            acknowledge(status);
          });
        },
        close() {
          visit.endedMs ??= clock.monotonicMs();
        },
      };
    },
    whenEmpty: line.whenEmpty,
  };
}

/** What the SMSC was told last that we have, by its words. */
function createMemory() {
  const acknowledged = new Map<string, Acknowledged>();
  return {
    remember(fingerprint: string, entry: Acknowledged) {
      acknowledged.delete(fingerprint);
      acknowledged.set(fingerprint, entry);
      if (acknowledged.size > MAX_REMEMBERED) acknowledged.delete(acknowledged.keys().next().value ?? "");
    },
    /** The SMSC knows that we have the last one with the same words: this one was written anew. */
    isNew(fingerprint: string): boolean {
      const last = acknowledged.get(fingerprint);
      if (!last) return false;
      return (last.visit.endedMs ?? Number.POSITIVE_INFINITY) - last.atMs > ARRIVES_WITHIN_MS;
    },
  };
}

function nobody(): Promise<never> {
  return Promise.reject(new Error("nobody takes them"));
}
