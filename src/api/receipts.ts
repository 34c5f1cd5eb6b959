/** Where providers report deliveries by HTTP. What a provider's request says is its connector kind's to read. */
import { hash, timingSafeEqual } from "node:crypto";
import Type from "typebox";
import { type Callbacks, callbackPath, type Web } from "../channels/channel.ts";
import type { Connector } from "../core/records/accounts.ts";
import { readSetting } from "../core/records/settings.ts";
import { isUuid } from "../core/uuid.ts";
import type { AppDeps } from "./app-deps.ts";
import { addressBlock } from "./client-address.ts";
import type { Call, Endpoint } from "./endpoint.ts";
import { callbackNotAuthenticated, notFound, tooManyRequests, validationFailed } from "./errors.ts";
import type { RateLimiter } from "./limits/rate-limit.ts";
import type { Directory } from "./records/directory.ts";
import { createFreshCache } from "./records/fresh-cache.ts";
import { pathOf } from "./router.ts";

/** SendGrid sends up to 768 KB of events at once, and what it was refused for a day it forgets. */
const MAX_BYTES = 1024 * 1024;

/** Of one client address: far above what a provider sends, and an end to what a stranger may. */
const RATE = { rate: 2_000, burst: 10_000 };

const MAX_CONNECTORS = 1_000;

interface Parts {
  readonly directory: Directory;
  readonly limiter: RateLimiter;
}

export function receiptEndpoints(deps: AppDeps, { directory, limiter }: Parts): readonly Endpoint[] {
  const find = createFinder(deps);
  const { web = NO_WEB } = deps;
  const handle = async (call: Call): Promise<Response> => {
    const waitSeconds = limiter.take({ key: `receipts ${addressBlock(call.clientAddress)}`, limit: RATE });
    if (waitSeconds !== undefined) throw tooManyRequests(waitSeconds);
    const found = await find(call.params);
    // HEAD is answered by GET, and tells of nothing.
    if (!found || !call.raw || call.raw.method === "HEAD") throw notFound();
    const request = {
      method: call.raw.method,
      url: publicForm(call.raw.url, await publicUrlOf(directory)),
      headers: call.headers,
      body: call.raw.text,
      receivedAt: call.now,
    };
    const reading = await found.callbacks.read(found.connector, request, web);
    if (reading.kind === "refused") {
      throw reading.status === 401 ? callbackNotAuthenticated() : validationFailed({ body: reading.reason });
    }
    // Answered only after they are stored: then the provider forgets them.
    if (reading.receipts.length > 0) await deps.store.queue.recordReceipts(reading.receipts);
    const inbound = reading.inbound?.map((one) => ({ ...one, id: deps.ids() })) ?? [];
    if (inbound.length > 0) await deps.store.inbound.receive(inbound);
    const { status, body, contentType } = reading.answer;
    if (body === "") return new Response(null, { status });
    return new Response(body, { status, headers: { "Content-Type": contentType } });
  };
  return (["POST", "GET"] as const).map((method) => ({ ...shared, ...named[method], method, handle }));
}

const NO_WEB: Web = { get: async () => undefined };

const named = {
  POST: { operation: "takeReceipts", summary: "Take a provider's delivery reports" },
  GET: { operation: "takeReceiptsByQuery", summary: "Take a provider's delivery report from the query" },
};

const shared = {
  path: callbackPath("{connector_id}", "{token}"),
  tag: "Receipts",
  auth: "none",
  rawBody: { maxBytes: MAX_BYTES },
  responses: {
    200: {
      description: "Stored.",
      schema: Type.String({ description: "What the provider wants to hear" }),
      mediaType: "*/*",
    },
    204: { description: "Stored. Some providers want no words; a described gateway may want another 2xx" },
    400: { description: "The report cannot be read" },
    401: { description: "The provider's signature or password is missing or wrong" },
    404: { description: "No such connector, or another token" },
    429: { description: "`too many requests` of one client address" },
  },
} as const satisfies Partial<Endpoint>;

interface Found {
  readonly connector: Connector;
  readonly callbacks: Callbacks;
}

type Finder = (params: Call["params"]) => Promise<Found | undefined>;

/** The connector that a path names, if the token is its own; which of the two was wrong is nobody's business. */
function createFinder({ store, clock, connectorKinds = [] }: AppDeps): Finder {
  const connectors = createFreshCache<Connector | undefined>({
    clock,
    maxEntries: MAX_CONNECTORS,
    keeps: (found) => found !== undefined,
  });

  return async ({ connector_id: id = "", token = "" }) => {
    if (!isUuid(id)) return undefined;
    const connector = await connectors.get(id.toLowerCase(), () =>
      store.records.find("connectors", { id: id.toLowerCase() }),
    );
    const callbacks = connectorKinds.find(({ kind }) => kind === connector?.kind)?.callbacks;
    const expected = callbacks && connector?.secrets[callbacks.tokenSecret];
    return connector && callbacks && expected && isSame(token, expected)
      ? { connector, callbacks }
      : undefined;
  };
}

/** Of the digests, so that lengths may differ and times do not. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

async function publicUrlOf(directory: Directory): Promise<string | undefined> {
  return readSetting(await directory.settings(undefined), "public_url");
}

/** The URL as the provider called it, whatever a proxy made of the host. */
function publicForm(url: string, publicUrl: string | undefined): string {
  if (publicUrl === undefined) return url;
  const query = url.indexOf("?");
  return publicUrl + pathOf(url) + (query === -1 ? "" : url.slice(query));
}
