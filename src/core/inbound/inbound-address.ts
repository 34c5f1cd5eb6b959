import { parsePhoneNumber } from "../sms/phone-number.ts";

/** Longest address that is kept: SMPP has room for 20 characters. */
const MAX_ADDRESS = 32;

const SHORT_CODE_DIGITS = 6;

/** How a sender may be registered that is this address, as `toInboundAddress` writes it. */
export function senderIdsOf(address: string): readonly string[] {
  const forms = [address, address.replace(/^\+/, ""), address.replace(/^\+91/, "")];
  return [...new Set(forms)].filter((form) => toInboundAddress(form) === address);
}

export interface AddressKind {
  /** The provider says that the digits begin with a country code. */
  readonly isInternational?: boolean;
  /** The provider says that they do not. */
  readonly isNational?: boolean;
}

/**
 * An address as providers write it, so that the same one is always written the same way: numbers in E.164, short
 * codes in digits, names in capitals. Bare digits of more than a short code's length are taken to begin with a
 * country code, unless they are an Indian mobile number or the provider says otherwise.
 */
export function toInboundAddress(written: string, kind: AddressKind = {}): string {
  const bare = written.replaceAll(/[\s().-]/g, "");
  const digits = bare.replace(/^(?:\+|00)/, "");
  if (!/^\d+$/.test(digits)) return written.trim().slice(0, MAX_ADDRESS).toUpperCase();
  const isMarked = bare.length > digits.length || kind.isInternational === true;
  const number = parsePhoneNumber(isMarked ? `+${digits}` : digits);
  if (number) return number;
  const isNumber = digits.length > SHORT_CODE_DIGITS && !kind.isNational;
  return (isNumber && parsePhoneNumber(`+${digits}`)) || digits.slice(0, MAX_ADDRESS);
}
