/** What the process and its listener threads say to one another. All of it is data. */
import type { ObservedRequest } from "../../api/app-deps.ts";
import type { SharedWriting } from "../../store/sqlite/open-beside.ts";
import type { LogLevel } from "../config.ts";

/** What a listener thread is started with. */
export interface ListenerSetup {
  readonly host: string;
  /** The port the process listens on already. */
  readonly port: number;
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly dataFolder: string;
  readonly masterKey: string;
  readonly logLevel: LogLevel;
  /** In CIDR notation. */
  readonly trustedProxies: readonly string[];
  readonly shared: SharedWriting;
  /** The socket on which the process answers what the thread hands on. */
  readonly socket: string;
}

export type ToListener = "drain";

export type FromListener =
  | { readonly kind: "open" }
  /** Every `TURN_MS`: that the loop turns, and what was answered since. */
  | { readonly kind: "turn"; readonly answered: readonly AnsweredRequests[] }
  /** Jobs of these queues may be ready. */
  | { readonly kind: "ready"; readonly queues: readonly string[] }
  | { readonly kind: "closed" };

/** Requests of one operation with one status, by how long each took. */
export interface AnsweredRequests extends Omit<ObservedRequest, "ms"> {
  readonly ms: Float32Array;
}

export const TURN_MS = 200;
