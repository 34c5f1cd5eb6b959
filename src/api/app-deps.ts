import type { ConnectorKind, ConnectorStatus, Web } from "../channels/channel.ts";
import type { Clock } from "../core/clock.ts";
import type { Store } from "../store/store.ts";
import type { Endpoint } from "./endpoint.ts";
import type { ReadJsonAside } from "./read-json.ts";

/** What taking requests needs, whichever of them are answered here. */
export interface DoorDeps {
  readonly store: Pick<Store, "inbound" | "intake" | "records" | "adminTokenDigest">;
  readonly clock: Clock;
  /** Ascending UUIDv7, as text. */
  readonly ids: () => string;
  readonly log: ApiLog;
  /** Absent: there are no such links. */
  readonly unsubscribes?: UnsubscribeLinks;
  /** Absent: callbacks that need it are not believed. */
  readonly web?: Web;
  /** Those whose callbacks are taken; absent: none. */
  readonly connectorKinds?: readonly ConnectorKind[];
  /** True once the process has been told to stop: every request but those of the probes is refused. */
  readonly isDraining: () => boolean;
  readonly onRequest: (request: ObservedRequest) => void;
  /** Whether the `X-Forwarded-For` of a peer counts. Absent: nobody's does. */
  readonly isTrustedProxy?: (address: string) => boolean;
  readonly limits?: Partial<ApiLimits>;
  /** Absent: large bodies are read here, and the others wait meanwhile. */
  readonly readJsonAside?: ReadJsonAside;
}

/** Answers a request, given the address at the other end of its connection. Never rejects. */
export type AnswerRequest = (request: Request, addressOf: (request: Request) => string) => Promise<Response>;

/** One of several listeners: it answers what is asked most, and hands the rest on. */
export interface MessageAppDeps extends DoorDeps {
  /** Answers what this part does not serve, and what only one may count: requests of accounts with a rate limit. */
  readonly elsewhere: AnswerRequest;
}

/** Everything the HTTP interface is given by the composition root. */
export interface AppDeps extends DoorDeps {
  readonly store: DoorDeps["store"] & Pick<Store, "messages" | "feed" | "queue" | "push">;
  readonly adminEndpoints: readonly Endpoint[];
  /** How a connector is doing in this process; `undefined` where it does not run it. Absent: it runs none. */
  readonly connectorStatus?: (id: string) => ConnectorStatus | undefined;
  /** The text of `/metrics`, in the Prometheus exposition format. */
  readonly metrics: () => Promise<string>;
  /** What keeps this process from serving, in words; empty when it is ready. */
  readonly readiness: () => Promise<readonly string[]>;
  /** The files of `/docs`: `swagger-ui.css`, `swagger-ui-bundle.js`, `swagger-ui-standalone-preset.js`. */
  readonly docsAsset: (name: string) => Promise<Uint8Array<ArrayBuffer> | undefined>;
  readonly version: string;
  /** As clients see it, without a slash at the end. For `/openapi.json`. */
  readonly baseUrl: string;
  /** `probes`: only `/healthz`, `/readyz` and `/metrics`, in a process that is not to accept. Absent: everything. */
  readonly serves?: "everything" | "probes";
}

export interface ObservedRequest {
  /** `Endpoint.operation`, or `none` where no endpoint was found. */
  readonly operation: string;
  readonly status: number;
  readonly ms: number;
}

/** What the links to unsubscribe by stand for. */
export interface UnsubscribeLinks {
  readonly isKnown: (token: string) => boolean;
  /** Resolves when it is stored; false for a token that was not made here. */
  readonly unsubscribe: (token: string) => Promise<boolean>;
}

export interface ApiLimits {
  /** Requests at work at one time; more are refused with 503. */
  readonly maxInFlight: number;
  /** Octets of request bodies held at one time; more are refused with 503. */
  readonly maxBodyBytesInFlight: number;
  /** Longest time a body may take to arrive, milliseconds. */
  readonly bodyTimeoutMs: number;
}

export const DEFAULT_LIMITS: ApiLimits = {
  maxInFlight: 10_000,
  maxBodyBytesInFlight: 128 * 1024 * 1024,
  bodyTimeoutMs: 30_000,
};

export interface ApiLog {
  /** Asked before the fields of a line per request are put together. */
  isDebug(): boolean;
  debug(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}
