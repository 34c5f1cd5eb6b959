/** An entry of the sandbox ledger: what the simulator was given for one recipient. Times are Unix milliseconds. */
import type { ListOrder } from "../lists/list-order.ts";
import type { ChannelName, MessageError } from "./message.ts";
import type { Receipt } from "./outcome.ts";

export interface SandboxEntry {
  /** UUIDv7; also the provider message id. */
  readonly id: string;
  readonly accountId: string;
  readonly messageId: string;
  readonly channel: ChannelName;
  /** Number or address. */
  readonly to: string;
  readonly receivedAt: number;
  /** The rendered message, as the simulator shows it (snake_case): text, segments, encoding … or subject, bodies, headers, source. */
  readonly rendered: Readonly<Record<string, unknown>>;
  readonly receipt?: {
    readonly at: number;
    readonly status: Receipt["status"];
    readonly error?: MessageError;
  };
}

export interface SandboxQuery {
  readonly accountId?: string;
  readonly messageId?: string;
  readonly channel?: ChannelName;
  readonly to?: string;
  /** Absent: the oldest first. */
  readonly order?: ListOrder;
  /** The last entry of the previous page: only entries after it, in the order of the list. */
  readonly after?: string;
  readonly limit: number;
}
