import type { ConnectorKind, ConnectorStatus, Web } from "../channels/channel.ts";
import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import type { Store } from "../store/store.ts";
import type { ReadLargeJson } from "./body/read-json.ts";
import type { Endpoint } from "./endpoint.ts";

/** What every listener needs, whichever endpoints it serves. */
export interface HandlerDeps {
  readonly store: Pick<Store, "intake" | "messages" | "records" | "suppressions" | "access">;
  readonly clock: Clock;
  /** Ascending UUIDv7, as text. */
  readonly ids: () => string;
  readonly log: Pick<Log, "isDebug" | "debug" | "warn" | "error">;
  /** Absent: there are no unsubscribe links. */
  readonly unsubscribes?: UnsubscribeLinks;
  /** For the GET requests that some callbacks need (certificates, confirmations). Absent: those are refused. */
  readonly web?: Web;
  /** The kinds of connectors whose callbacks are accepted; absent: none. */
  readonly connectorKinds?: readonly ConnectorKind[];
  /** True once the process has been told to stop: `/readyz` says so, no request waits, and each connection is closed with its next answer. */
  readonly isLeaving: () => boolean;
  /** True a second later, if the process has not ended by then: all requests except probes are refused. */
  readonly isDraining: () => boolean;
  readonly onRequest: (request: ObservedRequest) => void;
  /** The files of `/docs`: `swagger-ui.css`, `swagger-ui-bundle.js`, `swagger-ui-standalone-preset.js`. */
  readonly docsAsset: (name: string) => Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Signs the sessions of the console, the same in every process. Absent: there are none. */
  readonly consoleKey?: Uint8Array;
  /** Whether `X-Forwarded-For` is believed when it comes from this peer. Absent: from none. */
  readonly isTrustedProxy?: (address: string) => boolean;
  readonly limits?: Partial<ApiLimits>;
  /** Absent: large bodies are read on this thread, and other requests wait meanwhile. */
  readonly readLargeJson?: ReadLargeJson;
}

/** Answers a request, given the address at the other end of its connection. Never rejects. */
export type AnswerRequest = (request: Request, addressOf: (request: Request) => string) => Promise<Response>;

/** For a listener that answers the most frequent requests and forwards the rest. */
export interface MessageAppDeps extends HandlerDeps {
  /** Asks the listener that answers the rest. It also gets every request of an account with a rate limit: only one may count. */
  readonly forward: AnswerRequest;
}

/** For a listener of either sort. */
export type AnyAppDeps = HandlerDeps & Partial<MessageAppDeps>;

/** For the listener that answers everything. */
export interface AppDeps extends HandlerDeps {
  readonly store: HandlerDeps["store"] & Pick<Store, "feed" | "inbound" | "push" | "receipts">;
  readonly adminEndpoints: readonly Endpoint[];
  /** The files of `/console`: `index.html`, `console.css` and scripts. Absent: there is no console. */
  readonly consoleAsset?: (name: string) => string | undefined;
  /** How a connector is doing in this process; `undefined` if it does not run here. Absent: none does. */
  readonly connectorStatus?: (id: string) => ConnectorStatus | undefined;
  /** The text of `/metrics`, in the Prometheus exposition format. */
  readonly metrics: () => Promise<string>;
  /** What keeps this process from serving, in words; empty when it is ready. */
  readonly readiness: () => Promise<readonly string[]>;
  /** What an operator should look at although the process is ready, in words. Absent: there is nothing. */
  readonly warnings?: () => readonly string[];
  readonly version: string;
  /** The URL at which the process listens, without a slash at the end. For `/openapi.json`. */
  readonly baseUrl: string;
  /** `probes`: only `/healthz`, `/readyz` and `/metrics`, for a process that accepts no requests. Absent: everything. */
  readonly serves?: "everything" | "probes";
}

export interface ObservedRequest {
  /** `Endpoint.operation`, or `none` if no endpoint was found. */
  readonly operation: string;
  readonly status: number;
  readonly ms: number;
}

/** The unsubscribe links in emails, each known by its token. */
export interface UnsubscribeLinks {
  readonly isKnown: (token: string) => boolean;
  /** Resolves when the suppression is stored; false for a token that was not made here. */
  readonly unsubscribe: (token: string) => Promise<boolean>;
}

export interface ApiLimits {
  /** The most requests that are answered at the same time; more are refused with 503. */
  readonly maxInFlight: number;
  /** The most octets of request bodies that are held at the same time; more are refused with 503. */
  readonly maxBodyBytesInFlight: number;
  /** Longest time a body may take to arrive, milliseconds. */
  readonly bodyTimeoutMs: number;
}

export const DEFAULT_LIMITS: ApiLimits = {
  maxInFlight: 10_000,
  maxBodyBytesInFlight: 128 * 1024 * 1024,
  bodyTimeoutMs: 30_000,
};
