/** What a chaos run with emails knows. */
import type { Client, Entry, FeedEvent, Request, Shown } from "../model.ts";
import type { HandOver, Offer } from "./relay-talk.ts";

/** A request to send an email. */
export interface AskedMail extends Request {
  readonly account: Sender;
  /** All it is for, each once. */
  readonly addresses: readonly string[];
}

/** An account that sends emails from a domain of its own. */
export interface Sender extends Client {
  readonly domain: string;
  /** The setting `on_unconfirmed` is `hold`. */
  readonly holds: boolean;
}

/** One email, as the client, the service and the relays know it. */
export interface MailFate {
  readonly asked: AskedMail;
  readonly shown: Shown;
  readonly timeline: readonly Entry[];
  readonly events: readonly FeedEvent[];
  /** In the order in which they came. */
  readonly mails: readonly HandOver[];
  /** Of its recipients. Those of two emails of one request cannot be told apart. */
  readonly offers: readonly Offer[];
}
