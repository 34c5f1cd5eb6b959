import type { CallbackRequest } from "../../channel.ts";
import type { MailEvent } from "./mail-event.ts";

/** How a mail is marked so that the provider's webhooks name it, and how these are read. */
export interface MailProvider {
  /** Header fields of a mail that make the provider give our message id back; they replace the caller's of the same name. */
  headers(messageId: string, given: GivenHeader): Readonly<Record<string, string>>;
  /** What the secret `webhook_secret` must be, in words; absent: none is needed. */
  readonly needsSecret?: string;
  isAuthentic(request: CallbackRequest, given: { readonly secret: string }): boolean;
  /** The events in a body (parsed JSON); without those that do not matter or cannot be read. */
  events(body: unknown): readonly MailEvent[];
}

/** The value of the caller's own header field of this name, in lower case. */
export type GivenHeader = (lowerName: string) => string | undefined;
