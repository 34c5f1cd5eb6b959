import type { MessageError } from "../../../core/messages/message.ts";
import { type Told, withoutEcho } from "../../without-echo.ts";
import { dltScrubError, type OwnCodes, type ScrubContext } from "../dlt-scrub-codes.ts";

export interface ProviderWords {
  readonly provider: string;
  readonly code: string | undefined;
  readonly text: string | undefined;
  /** Takes the place of a code or text that the provider leaves out. */
  readonly otherwise: MessageError;
  /** What code and text may repeat. */
  readonly told: Told;
}

const MAX_CODE = 64;
const SHORT_VALUE = 12;
const MAX_TEXT = 255;

/** So much of a text is looked at: more than is told of it, since what it repeats is taken out first. */
const MAX_READ = 4 * MAX_TEXT;

/** An error with a code like `twilio.21211` and the provider's own words, cut to length and without what they repeat. */
export function providerError({ provider, code, text, otherwise, told }: ProviderWords): MessageError {
  const word = code === undefined ? "" : tidyCode(code, told);
  return {
    code: word === "" ? otherwise.code : `${provider}.${word}`,
    message: (text && tidyText(text, told)) || otherwise.message,
  };
}

/** The error that a DLT scrubbing code stands for: one of the connector's own codes or, with `isDlt`, one of the platforms'. */
export function scrubError(
  code: string | undefined,
  { isDlt, own, to }: ScrubContext & { readonly isDlt: boolean; readonly own: OwnCodes },
): MessageError | undefined {
  const isOwn = code !== undefined && Object.hasOwn(own, code);
  return isDlt || isOwn ? dltScrubError(code, { own, to }) : undefined;
}

/** The provider's own words as one line of printable text, without full numbers and what it was told. */
export function tidyText(text: string, told: Told = NOTHING): string {
  const line = text
    .slice(0, MAX_READ)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim();
  return withoutNumbers(withoutEcho(line, told)).slice(0, MAX_TEXT);
}

const NOTHING: Told = { secrets: [] };

function withoutNumbers(text: string): string {
  return text.replace(/\+?\d{5,}(?=\d{4})/g, "…");
}

/** Some gateways have a whole sentence where others have a code. */
function tidyCode(code: string, { content = [], ...told }: Told): string {
  // A short value, such as a one-time password, may be the same as a code by chance.
  const long = content.filter(({ length }) => length > SHORT_VALUE);
  return withoutNumbers(withoutEcho(code.slice(0, MAX_READ), { ...told, content: long }))
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, MAX_CODE);
}
