/** What the simulator does with a recipient. Pure; `docs/sandbox.md` says the same in words. */
import type { ChannelName, MessageError } from "../../core/messages/message.ts";
import type { Receipt } from "../../core/messages/outcome.ts";

export interface Scenario {
  /** Shown on the timeline, so it never changes. */
  readonly name: string;
  /** How the simulator answers. `defers`: takes the message after deferring it `times` times; without `times`, never. */
  readonly answer: "takes" | "rejects" | "defers";
  readonly times?: number;
  /** The provider's error if it does not take the message. */
  readonly error?: MessageError;
  /** How long the answer takes, milliseconds. */
  readonly answerMs?: number;
  /** The receipt that follows a message that was taken; absent: none does. */
  readonly receipt?: { readonly status: Receipt["status"]; readonly error?: MessageError };
}

const DELIVERED = { status: "delivered" } as const;
const BY_DEFAULT: Scenario = { name: "delivered", answer: "takes", receipt: DELIVERED };
const SLOW: Scenario = { name: "slow", answer: "takes", answerMs: 5_000, receipt: DELIVERED };
const NO_RECEIPT: Scenario = { name: "no_receipt", answer: "takes" };

/** A magic number is one of these and one more digit. */
const NUMBER_STEMS = ["+1500555000", "+91900000000"];

/** By the last digit. The error codes are those of a real SMSC (SMPP 3.4 §5.1.3), so that users can test how they handle them. */
const NUMBERS: Readonly<Record<string, Scenario>> = {
  "1": {
    name: "undelivered",
    answer: "takes",
    receipt: { status: "undelivered", error: said("receipt.undeliv", "the SMSC reported UNDELIV") },
  },
  "2": {
    name: "rejected",
    answer: "rejects",
    error: said("smpp.0x0000000b", "ESME_RINVDSTADR: destination address is invalid"),
  },
  "3": {
    name: "throttled",
    answer: "defers",
    times: 3,
    error: said("smpp.0x00000058", "ESME_RTHROTTLED: over the allowed rate"),
    receipt: DELIVERED,
  },
  "4": NO_RECEIPT,
  "5": {
    name: "never_accepted",
    answer: "defers",
    error: said("smpp.0x00000008", "ESME_RSYSERR: system error"),
  },
  "6": SLOW,
};

/** By local part, at any domain. Error codes are enhanced status codes (RFC 3463). */
const LOCAL_PARTS: Readonly<Record<string, Scenario>> = {
  bounce: {
    name: "bounced",
    answer: "takes",
    receipt: { status: "bounced", error: said("5.1.1", "the mailbox does not exist") },
  },
  reject: { name: "rejected", answer: "rejects", error: said("5.7.1", "550 the message is refused") },
  defer: {
    name: "deferred",
    answer: "defers",
    times: 3,
    error: said("4.7.1", "451 try again later"),
    receipt: DELIVERED,
  },
  noreceipt: NO_RECEIPT,
  never: {
    name: "never_accepted",
    answer: "defers",
    error: said("4.3.2", "451 the system is not accepting messages"),
  },
  slow: SLOW,
};

/** `recipient`: an E.164 number with `+`, or an address, whose case, and tag after a `+`, do not matter. */
export function scenarioOf(channel: ChannelName, recipient: string): Scenario {
  return (channel === "sms" ? ofNumber(recipient) : ofAddress(recipient)) ?? BY_DEFAULT;
}

function ofNumber(number: string): Scenario | undefined {
  return NUMBER_STEMS.includes(number.slice(0, -1)) ? ownEntry(NUMBERS, number.slice(-1)) : undefined;
}

function ofAddress(address: string): Scenario | undefined {
  const localPart = address.slice(0, Math.max(0, address.lastIndexOf("@")));
  return ownEntry(LOCAL_PARTS, localPart.toLowerCase().replace(/\+.*$/s, ""));
}

/** Own properties only: `constructor@example.com` is an address like any other. */
function ownEntry(table: Readonly<Record<string, Scenario>>, key: string): Scenario | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function said(code: string, words: string): MessageError {
  return { code, message: `${words} (simulated)` };
}
