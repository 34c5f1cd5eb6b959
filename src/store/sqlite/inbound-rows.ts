import type { InboundMessage } from "../../core/inbound.ts";
import type { KeywordMeaning } from "../../core/opt-out.ts";
import type { SqlValue } from "./driver.ts";

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
  readonly is_partial: number;
  readonly received_at: number;
  readonly webhook_url: string | null;
}

export const INSERT_INBOUND = `INSERT INTO inbound_messages (id, account_id, connector_id, sender, recipient, text,
  segments, encoding, keyword, is_partial, received_at, provider_key, webhook_url)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** In the order of `INSERT_INBOUND`. */
export function toInboundRow(
  message: InboundMessage,
  { key, webhookUrl }: { readonly key: string; readonly webhookUrl: string | undefined },
): SqlValue[] {
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
    ...(row.is_partial === 1 && { isPartial: true }),
    receivedAt: row.received_at,
  };
}
