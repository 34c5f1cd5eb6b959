import { type PhoneNumber, parsePhoneNumber } from "../sms/phone-number.ts";

/** The most characters that are kept of an address; one of SMPP has at most 20. */
const MAX_ADDRESS = 32;

const SHORT_CODE_DIGITS = 6;

export interface AddressKind {
  /** The provider says that the digits begin with a country code. */
  readonly isInternational?: boolean;
  /** The provider says that they do not. */
  readonly isNational?: boolean;
  /** The country code of numbers that have none. */
  readonly countryCode?: string | undefined;
}

/**
 * The one way to write an address that providers write in several: numbers in E.164, short codes in digits, names in
 * capitals. Bare digits longer than a short code are taken to begin with a country code, unless they are an Indian mobile
 * number or the provider says otherwise.
 */
export function toInboundAddress(written: string, kind: AddressKind = {}): string {
  const bare = written.replaceAll(/[\s().-]/g, "");
  const digits = bare.replace(/^(?:\+|00)/, "");
  if (!/^\d+$/.test(digits)) return toName(written);
  const isMarked = bare.length > digits.length || kind.isInternational === true;
  // A mark in the number itself counts for more than what is said of it.
  const national = kind.isNational && !isMarked ? inCountry(digits, kind.countryCode) : undefined;
  if (national) return national;
  const number = parsePhoneNumber(isMarked ? `+${digits}` : digits);
  if (number) return number;
  const isNumber = digits.length > SHORT_CODE_DIGITS && !kind.isNational;
  return (isNumber && parsePhoneNumber(`+${digits}`)) || digits.slice(0, MAX_ADDRESS);
}

/**
 * A number without its country code, with or without the trunk prefix in front of it; `undefined` for a short code. An Indian mobile
 * number shows by its length whether it has the code after all.
 */
function inCountry(digits: string, countryCode: string | undefined): PhoneNumber | undefined {
  if (countryCode === undefined || digits.length <= SHORT_CODE_DIGITS) return undefined;
  const indian = countryCode === "91" ? parsePhoneNumber(digits) : undefined;
  const trunk = countryCode === "1" ? NORTH_AMERICAN_TRUNK : TRUNK;
  return indian ?? parsePhoneNumber(`+${countryCode}${digits.replace(trunk, "")}`);
}

const TRUNK = /^0+/;

/** In North America the trunk prefix is 1, like the country code, and no number begins with either. */
const NORTH_AMERICAN_TRUNK = /^[01]+/;

/** The ways in which a sender with this address may be registered. `address`: as `toInboundAddress` writes it. */
export function senderIdsOf(address: string): readonly string[] {
  const forms = [address, address.replace(/^\+/, ""), address.replace(/^\+91/, "")];
  return [...new Set(forms)].filter((form) => toInboundAddress(form) === address);
}

/** Without characters that some database cannot store: a provider would deliver such a message again and again. */
function toName(written: string): string {
  return written.replaceAll("\0", "").trim().slice(0, MAX_ADDRESS).toUpperCase().toWellFormed();
}
