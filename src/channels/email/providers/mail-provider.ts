import type { CallbackRequest } from "../../channel.ts";
import type { MailEvent } from "./mail-event.ts";

/** How a provider is told which mail is which, and how it tells what became of it. */
export interface MailProvider {
  /** Header fields by which it gives our own id back. */
  headers(messageId: string): Readonly<Record<string, string>>;
  /** What the secret `webhook_secret` has to be; absent: it has no use for one. */
  readonly needsSecret?: string;
  isAuthentic(request: CallbackRequest, given: { readonly secret: string }): boolean;
  /** What the body (JSON) says; none of what is of no interest or cannot be read. */
  events(body: unknown): readonly MailEvent[];
}
