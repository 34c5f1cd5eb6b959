/** Messages as the API shows them, of both channels. */
import type { Client, Page } from "../client.ts";
import type { Query } from "../place.ts";

type Channel = "sms" | "email";

interface Mailbox {
  readonly email: string;
  readonly name?: string;
}

/** A mailbox with its name; or a sender id. */
export type Address = string | Mailbox;

export interface Message {
  readonly message_id: string;
  readonly account_id: string;
  readonly channel: Channel;
  readonly to: string | readonly Mailbox[];
  readonly cc?: readonly Mailbox[];
  readonly bcc?: readonly Mailbox[];
  readonly from?: Address;
  readonly subject?: string;
  readonly template_id?: string;
  readonly dlt_template_id?: string;
  readonly dlt_entity_id?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly callback_url?: string;
  readonly tags?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly status: string;
  readonly created_at: string;
  /** Why it did not get through. */
  readonly error?: { readonly code: string; readonly message: string };
}

export function readMessages(client: Client, query: Query): Promise<Page<Message>> {
  return client.get("messages", query);
}

/** The first recipient, and how many more there are. */
export function recipientText({ to, cc = [], bcc = [] }: Message): string {
  if (typeof to === "string") return to;
  const [first, ...others] = [...to, ...cc, ...bcc].map(({ email }) => email);
  return others.length === 0 ? (first ?? "") : `${first} and ${others.length} more`;
}

/** The newest of several lists that are each sorted. */
export function newestOf(lists: readonly (readonly Message[])[], atMost: number): readonly Message[] {
  return lists
    .flat()
    .sort((a, b) => b.created_at.localeCompare(a.created_at))
    .slice(0, atMost);
}
