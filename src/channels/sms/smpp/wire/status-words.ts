/** The values of command_status (SMPP 3.4 §5.1.3): their names, what they mean in words, and how we react to them. */

/**
 * throttled: pause, slow down, and try again; no attempt is counted. full: try again later, without counting an attempt, and slow
 * down if it is not only one recipient's queue that is full. transient: try again later. session: the bind is at fault, not the
 * message; another session takes its place. framing: the two sides no longer agree where a PDU begins; another session takes the place
 * of this one too, unless it was bound a moment ago. permanent: never try again.
 */
export const STATUS_CLASSES = ["throttled", "full", "transient", "session", "framing", "permanent"] as const;
export type StatusClass = (typeof STATUS_CLASSES)[number];

export interface StatusWord {
  readonly name: string;
  readonly words: string;
  readonly class: StatusClass;
}

export const STATUS_OK = 0x00;
export const ESME_RINVCMDLEN = 0x02;
export const ESME_RINVCMDID = 0x03;
export const ESME_RINVBNDSTS = 0x04;
export const ESME_RX_T_APPN = 0x64;
export const ESME_RINVPARLEN = 0xc2;

/** After these, binding again is useless until somebody changes a password or a setting. */
const CREDENTIAL_FAULTS: ReadonlySet<number> = new Set([0x0e, 0x0f, 0x53]);

type Row = readonly [name: string, words: string, statusClass: StatusClass];

const TABLE: Readonly<Record<number, Row>> = {
  0x01: ["ESME_RINVMSGLEN", "message length is invalid", "permanent"],
  0x02: ["ESME_RINVCMDLEN", "command length is invalid", "framing"],
  0x03: ["ESME_RINVCMDID", "command id is invalid", "framing"],
  0x04: ["ESME_RINVBNDSTS", "incorrect bind status for this command", "session"],
  0x05: ["ESME_RALYBND", "already bound", "session"],
  0x06: ["ESME_RINVPRTFLG", "priority flag is invalid", "permanent"],
  0x07: ["ESME_RINVREGDLVFLG", "registered delivery flag is invalid", "permanent"],
  0x08: ["ESME_RSYSERR", "system error", "transient"],
  0x0a: ["ESME_RINVSRCADR", "source address is invalid", "permanent"],
  0x0b: ["ESME_RINVDSTADR", "destination address is invalid", "permanent"],
  0x0c: ["ESME_RINVMSGID", "message id is invalid", "permanent"],
  0x0d: ["ESME_RBINDFAIL", "bind failed", "session"],
  0x0e: ["ESME_RINVPASWD", "password is invalid", "session"],
  0x0f: ["ESME_RINVSYSID", "system id is invalid", "session"],
  0x11: ["ESME_RCANCELFAIL", "cancelling failed", "permanent"],
  0x13: ["ESME_RREPLACEFAIL", "replacing failed", "permanent"],
  0x14: ["ESME_RMSGQFUL", "message queue is full", "full"],
  0x15: ["ESME_RINVSERTYP", "service type is invalid", "permanent"],
  0x33: ["ESME_RINVNUMDESTS", "number of destinations is invalid", "permanent"],
  0x34: ["ESME_RINVDLNAME", "distribution list name is invalid", "permanent"],
  0x40: ["ESME_RINVDESTFLAG", "destination flag is invalid", "permanent"],
  0x42: ["ESME_RINVSUBREP", "replacing a submitted message is not possible", "permanent"],
  0x43: ["ESME_RINVESMCLASS", "esm_class is invalid", "permanent"],
  0x44: ["ESME_RCNTSUBDL", "cannot submit to a distribution list", "permanent"],
  0x45: ["ESME_RSUBMITFAIL", "submit failed", "transient"],
  0x48: ["ESME_RINVSRCTON", "source TON is invalid", "permanent"],
  0x49: ["ESME_RINVSRCNPI", "source NPI is invalid", "permanent"],
  0x50: ["ESME_RINVDSTTON", "destination TON is invalid", "permanent"],
  0x51: ["ESME_RINVDSTNPI", "destination NPI is invalid", "permanent"],
  0x53: ["ESME_RINVSYSTYP", "system type is invalid", "session"],
  0x54: ["ESME_RINVREPFLAG", "replace_if_present flag is invalid", "permanent"],
  0x55: ["ESME_RINVNUMMSGS", "number of messages is invalid", "permanent"],
  0x58: ["ESME_RTHROTTLED", "over the allowed rate", "throttled"],
  0x61: ["ESME_RINVSCHED", "scheduled delivery time is invalid", "permanent"],
  0x62: ["ESME_RINVEXPIRY", "validity period is invalid", "permanent"],
  0x63: ["ESME_RINVDFTMSGID", "predefined message is invalid or not found", "permanent"],
  0x64: ["ESME_RX_T_APPN", "temporary error of the receiver", "transient"],
  0x65: ["ESME_RX_P_APPN", "permanent error of the receiver", "permanent"],
  0x66: ["ESME_RX_R_APPN", "rejected by the receiver", "permanent"],
  0x67: ["ESME_RQUERYFAIL", "query failed", "permanent"],
  0xc0: ["ESME_RINVOPTPARSTREAM", "error in the optional part of the PDU", "permanent"],
  0xc1: ["ESME_ROPTPARNOTALLWD", "optional parameter is not allowed", "permanent"],
  0xc2: ["ESME_RINVPARLEN", "parameter length is invalid", "permanent"],
  0xc3: ["ESME_RMISSINGOPTPARAM", "an expected optional parameter is missing", "permanent"],
  0xc4: ["ESME_RINVOPTPARAMVAL", "an optional parameter has an invalid value", "permanent"],
  0xfe: ["ESME_RDELIVERYFAILURE", "delivery failed", "permanent"],
  0xff: ["ESME_RUNKNOWNERR", "unknown error", "transient"],
  // Above: version 3.4. Below: what SMSCs of version 5.0 answer even so.
  0x100: ["ESME_RSERTYPUNAUTH", "not authorised for this service type", "permanent"],
  0x101: ["ESME_RPROHIBITED", "not authorised for this operation", "permanent"],
  0x102: ["ESME_RSERTYPUNAVAIL", "service type is unavailable", "transient"],
  0x103: ["ESME_RSERTYPDENIED", "service type is denied", "permanent"],
  0x104: ["ESME_RINVDCS", "data coding is invalid", "permanent"],
  // India's DLT scrubbing, whose codes are decimal: the platform had no answer, and may have one later.
  670: ["0x0000029e", "DLT scrubbing failed", "transient"],
};

/** What is known about a command_status. An unknown one is permanent. `overrides`: the connector's own classes, by number. */
export function statusWord(status: number, overrides?: ReadonlyMap<number, StatusClass>): StatusWord {
  const [name, words, statusClass] = TABLE[status] ?? unlisted(status);
  return { name, words, class: overrides?.get(status) ?? statusClass };
}

/** `smpp.0x0000000b`. */
export function statusCode(status: number): string {
  return `smpp.${hexStatus(status)}`;
}

/** `0x0000000b`. */
export function hexStatus(status: number): string {
  return `0x${status.toString(16).padStart(8, "0")}`;
}

/** Whether SMPP 3.4 or 5.0 defines the status; all others are a provider's own. */
export function isListed(status: number): boolean {
  return status <= LAST_LISTED && TABLE[status] !== undefined;
}

const LAST_LISTED = 0x104;

export function isCredentialFault(status: number): boolean {
  return CREDENTIAL_FAULTS.has(status);
}

function unlisted(status: number): Row {
  const isVendor = status >= 0x400 && status <= 0x4ff;
  return [
    hexStatus(status),
    isVendor ? "an error of this vendor" : "an error SMPP 3.4 does not list",
    "permanent",
  ];
}
