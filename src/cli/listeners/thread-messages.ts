/** Messages between the main thread and the listener threads; all are structured clones. */
import type { ObservedRequest } from "../../api/app-deps.ts";
import type { SharedWriting } from "../../store/sqlite/open-beside.ts";
import type { LogLevel } from "../config.ts";
import type { Tls } from "../http/tls-files.ts";

/** What a listener thread is started with. */
export interface ListenerSetup {
  readonly host: string;
  /** The port the process listens on already. */
  readonly port: number;
  readonly tls?: Tls;
  readonly dataFolder: string;
  readonly masterKey: string;
  readonly logLevel: LogLevel;
  /** In CIDR notation. */
  readonly trustedProxies: readonly string[];
  readonly shared: SharedWriting;
  /** The socket on which the main thread answers what this thread forwards. */
  readonly socket: string;
}

export type ToListener =
  | { readonly kind: "drain" }
  /** The thread answers whether it shows this certificate from then on. */
  | { readonly kind: "renew"; readonly tls: Tls };

export type FromListener =
  | { readonly kind: "open" }
  /** Every `TURN_MS`: shows that the event loop turns, with what it has done since the last one. */
  | ({ readonly kind: "turn" } & Observed)
  /** Jobs of these queues may be ready. */
  | { readonly kind: "ready"; readonly queues: readonly string[] }
  /** `problem`: why it goes on with the certificate from before. */
  | { readonly kind: "renewed"; readonly problem?: string }
  | { readonly kind: "closed" };

export interface Observed {
  readonly answered: readonly AnsweredRequests[];
  /** How late each timer was that fired; see `reportLateTimers`. */
  readonly lateMs: Float32Array;
}

/** Requests of one operation with one status, by how long each took. */
export interface AnsweredRequests extends Omit<ObservedRequest, "ms"> {
  readonly ms: Float32Array;
}

export const TURN_MS = 200;
