import type { MessageError } from "../../../core/messages/message.ts";
import { dltScrubError, type OwnCodes, type ScrubContext } from "../dlt-scrub-codes.ts";

export interface ProviderWords {
  readonly provider: string;
  readonly code: string | undefined;
  readonly text: string | undefined;
  /** Takes the place of a code or text that the provider leaves out. */
  readonly otherwise: MessageError;
}

const MAX_CODE = 64;
const MAX_TEXT = 255;

/** An error with a code like `twilio.21211` and the provider's own words, cut to length and without full numbers. */
export function providerError({ provider, code, text, otherwise }: ProviderWords): MessageError {
  const word = code === undefined ? "" : tidyCode(code);
  return {
    code: word === "" ? otherwise.code : `${provider}.${word}`,
    message: (text && tidyText(text)) || otherwise.message,
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

/** The provider's own words as one line of printable text. */
export function tidyText(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  return line.replace(/\+?\d{5,}(?=\d{4})/g, "…").slice(0, MAX_TEXT);
}

function tidyCode(code: string): string {
  return code
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, MAX_CODE);
}
