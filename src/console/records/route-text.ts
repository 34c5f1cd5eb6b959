/** Routes in a line: which messages, and where they go. Pure. */
import { type Named, nameIn } from "./named.ts";

export interface Route {
  readonly id: string;
  readonly channel: string;
  readonly match: string;
  readonly account_id?: string;
  readonly sender?: string;
  readonly category?: string;
  readonly connectors: readonly { readonly connector_id: string; readonly weight?: number }[];
}

/** `sms to 91…, sender ACME, transactional` */
export function routeText({ channel, match, sender, category }: Route): string {
  const to = match === "" ? "all" : `to ${match}${channel === "sms" ? "…" : ""}`;
  return [`${channel} ${to}`, sender && `sender ${sender}`, category].filter(Boolean).join(", ");
}

/** In the order they are tried: `primary 80, second 20, spare`. */
export function connectorsText({ connectors }: Route, known: readonly Named[]): string {
  return connectors
    .map(({ connector_id: id, weight }) => {
      const name = nameIn(known, id);
      return weight === undefined ? name : `${name} (weight ${weight})`;
    })
    .join(", ");
}
