import type { CallbackRequest } from "../../channel.ts";
import type { MailEvent } from "./mail-event.ts";

/** How to mark a mail so that the provider's webhooks name it, and how to read these. */
export interface MailProvider {
  /** Header fields of a mail that make the provider give our message id back; they replace the caller's of the same name. */
  headers(messageId: string, given: GivenHeader): Readonly<Record<string, string>>;
  /** What the secret `webhook_secret` has to be, in words for the operator; absent: none is needed. */
  readonly needsSecret?: string;
  /** Whether the signature is the provider's, however old it is. */
  isAuthentic(request: CallbackRequest, given: { readonly secret: string }): boolean;
  /** The header with the time that the signature covers (Unix seconds), and how far it may be from our clock; absent: it covers none. */
  readonly signedTime?: { readonly header: string; readonly maxOffMs: number };
  /** The events in a body (parsed JSON), without those that do not matter or cannot be read. */
  events(body: unknown): readonly MailEvent[];
}

/** Returns the value of the caller's own header field; the name is given in lower case. */
export type GivenHeader = (lowerName: string) => string | undefined;
