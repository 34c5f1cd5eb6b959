/** The rows of inbound messages, and how they are converted from and to the type of `core`. */
import type { InboundMessage } from "../../core/inbound/inbound.ts";
import type { KeywordMeaning } from "../../core/suppressions/opt-out.ts";

export interface InboundRow {
  readonly id: string;
  readonly account_id: string | null;
  readonly connector_id: string;
  readonly sender: string;
  readonly recipient: string;
  readonly text: string;
  readonly segments: number;
  readonly encoding: InboundMessage["encoding"];
  readonly keyword: KeywordMeaning | null;
  /** 0 or 1 in an engine without booleans. */
  readonly is_partial: number | boolean;
  readonly received_at: number;
  readonly webhook_url: string | null;
}

/** In the order of `toInboundRow`. */
export const INBOUND_COLUMNS = `id, account_id, connector_id, sender, recipient, text, segments, encoding, keyword,
  is_partial, received_at, provider_key, webhook_url`;

export function toInboundRow(
  message: InboundMessage,
  { key, webhookUrl }: { readonly key: string; readonly webhookUrl: string | undefined },
): (string | number | null)[] {
  return [
    message.id,
    message.accountId ?? null,
    message.connectorId,
    message.from,
    message.to,
    message.text,
    message.segments,
    message.encoding,
    message.keyword ?? null,
    message.isPartial ? 1 : 0,
    message.receivedAt,
    key,
    webhookUrl ?? null,
  ];
}

export function toInboundMessage(row: InboundRow): InboundMessage {
  return {
    id: row.id,
    ...(row.account_id !== null && { accountId: row.account_id }),
    connectorId: row.connector_id,
    from: row.sender,
    to: row.recipient,
    text: row.text,
    segments: row.segments,
    encoding: row.encoding,
    ...(row.keyword !== null && { keyword: row.keyword }),
    ...(row.is_partial && { isPartial: true }),
    receivedAt: row.received_at,
  };
}
