/** The callback URLs to which providers send receipts and inbound messages. The connector's kind reads their requests. */
import Type from "typebox";
import { type CallbackReading, type Callbacks, callbackPath, type Web } from "../channels/channel.ts";
import { addressBlock } from "../core/network/address-block.ts";
import { createDroppedLog } from "../core/receipts/dropped-log.ts";
import type { Connector } from "../core/records/accounts.ts";
import { readSetting } from "../core/records/settings.ts";
import { isUuid } from "../core/uuid.ts";
import { createFreshCache } from "../core/work/fresh-cache.ts";
import type { AppDeps } from "./app-deps.ts";
import type { Call, Endpoint } from "./endpoint.ts";
import type { EndpointParts } from "./endpoints.ts";
import { callbackNotAuthenticated, notFound, validationFailed } from "./errors.ts";
import { countRequest } from "./limits/count-request.ts";
import type { Directory } from "./records/directory.ts";
import { pathOf } from "./router.ts";
import { isSameSecret } from "./same-secret.ts";

/** SendGrid sends up to 768 KB of events at once, and drops events that were refused for a day. */
const MAX_BYTES = 1024 * 1024;

/** Per client address: far more than a provider sends, and a bound for strangers. */
const RATE = { rate: 2_000, burst: 10_000 };

const MAX_CONNECTORS = 1_000;

export function receiptEndpoints(deps: AppDeps, { directory, limiter }: EndpointParts): readonly Endpoint[] {
  const findConnector = createFinder(deps);
  const { web = NO_WEB } = deps;
  const tellNameless = createDroppedLog(deps, "a callback names no message and was dropped");
  const tellOutOfTime = createDroppedLog(
    deps,
    "a callback was signed too long before or after this machine's time",
  );
  const handle = async (call: Call): Promise<Response> => {
    countRequest(limiter, { key: `receipts ${addressBlock(call.clientAddress)}`, limit: RATE });
    const found = await findConnector(call.params);
    // The router takes HEAD for GET, but a HEAD request reports nothing.
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
      if (reading.isOutOfTime) tellOutOfTime(found.connector.id);
      throw reading.status === 401 ? callbackNotAuthenticated() : validationFailed({ body: reading.reason });
    }
    // Answered only after everything is stored: the provider forgets it then.
    await storeReading(deps, reading);
    if (reading.isNameless) tellNameless(found.connector.id);
    return toResponse(reading.answer);
  };
  return (["POST", "GET"] as const).map((method) => ({ ...shared, ...named[method], method, handle }));
}

type Received = Extract<CallbackReading, { kind: "receipts" }>;

async function storeReading({ store, ids }: AppDeps, { receipts, inbound = [] }: Received): Promise<void> {
  if (receipts.length > 0) await store.receipts.record(receipts);
  if (inbound.length > 0) await store.inbound.receive(inbound.map((message) => ({ ...message, id: ids() })));
}

function toResponse({ status, body, contentType }: Received["answer"]): Response {
  if (body === "") return new Response(null, { status });
  return new Response(body, { status, headers: { "Content-Type": contentType } });
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
      schema: Type.String({ description: "What the provider expects" }),
      mediaType: "*/*",
    },
    204: { description: "Stored. Some providers expect no body; a custom gateway may expect another 2xx" },
    400: { description: "The report cannot be read" },
    401: { description: "The provider's signature or password is missing or wrong" },
    404: { description: "Unknown connector, or wrong token" },
    429: { description: "`too many requests` from one client address" },
  },
} as const satisfies Partial<Endpoint>;

interface Found {
  readonly connector: Connector;
  readonly callbacks: Callbacks;
}

type Finder = (params: Call["params"]) => Promise<Found | undefined>;

/** Finds the connector that a path names, if the token is its own. A caller is not told which of the two was wrong. */
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
    return connector && callbacks && expected && isSameSecret(token, expected)
      ? { connector, callbacks }
      : undefined;
  };
}

async function publicUrlOf(directory: Directory): Promise<string | undefined> {
  return readSetting(await directory.settings(undefined), "public_url");
}

/** The URL as the provider called it: a proxy may have changed the host. */
function publicForm(url: string, publicUrl: string | undefined): string {
  if (publicUrl === undefined) return url;
  const query = url.indexOf("?");
  return publicUrl + pathOf(url) + (query === -1 ? "" : url.slice(query));
}
