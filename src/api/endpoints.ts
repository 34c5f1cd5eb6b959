import type { AppDeps, HandlerDeps } from "./app-deps.ts";
import { consolePages } from "./console/console-pages.ts";
import { sessionEndpoints } from "./console/session-endpoints.ts";
import { emailEndpoints } from "./email/email-messages.ts";
import { unsubscribeEndpoints } from "./email/unsubscribe.ts";
import type { Endpoint } from "./endpoint.ts";
import { eventEndpoints } from "./events/events.ts";
import { Forwarded } from "./forwarded.ts";
import { healthEndpoints } from "./health.ts";
import { inboundEndpoints } from "./inbound/inbound-sms.ts";
import type { RateLimiter } from "./limits/rate-limit.ts";
import { cancelEndpoints } from "./messages/cancel-messages.ts";
import { createCreatedAt } from "./messages/created-at.ts";
import { getEndpoints } from "./messages/get-messages.ts";
import { messageEventEndpoints } from "./messages/message-events.ts";
import { messageListEndpoints } from "./messages/message-lists.ts";
import { docsEndpoints } from "./openapi/docs.ts";
import { openApiEndpoint } from "./openapi/openapi.ts";
import { pushEndpoints } from "./push.ts";
import { receiptEndpoints } from "./receipts.ts";
import type { Directory } from "./records/directory.ts";
import { smsEndpoints } from "./sms/sms-messages.ts";

/** What the endpoints of one listener share. */
export interface EndpointParts {
  readonly directory: Directory;
  readonly limiter: RateLimiter;
}

/** All endpoints, or only the probes if `deps.serves` says so. */
export function allEndpoints(deps: AppDeps, { directory, limiter }: EndpointParts): readonly Endpoint[] {
  if (deps.serves === "probes") return healthEndpoints(deps);
  const { store, ids } = deps;
  const { connectorStatus = () => undefined } = deps;
  const createdAtOf = createCreatedAt();
  const { intake, messages } = store;
  const messageDeps = { intake, directory, ids, createdAtOf, connectorStatus };
  const described = [
    ...smsEndpoints(messageDeps),
    ...inboundEndpoints(store.inbound),
    ...emailEndpoints(messageDeps),
    ...getEndpoints(messages),
    ...messageListEndpoints(messages),
    ...messageEventEndpoints(messages),
    ...cancelEndpoints(store),
    ...eventEndpoints(deps),
    ...pushEndpoints({ store, directory, limiter, ids }),
    ...receiptEndpoints(deps, { directory, limiter }),
    ...unsubscribeEndpoints(deps, limiter),
    ...healthEndpoints(deps),
    ...sessionEndpoints(deps, limiter),
    ...deps.adminEndpoints.map((endpoint) => refreshingAfter(endpoint, directory)),
  ];
  return [
    ...described,
    openApiEndpoint(described, { ...deps, directory }),
    ...docsEndpoints(deps),
    ...consolePages(deps),
  ];
}

/**
 * After a change has been answered, the requests that this listener answers use the changed records at once; those of other
 * listeners and processes do within a second.
 */
function refreshingAfter(endpoint: Endpoint, directory: Directory): Endpoint {
  if (endpoint.method === "GET") return endpoint;
  return {
    ...endpoint,
    async handle(call) {
      try {
        return await endpoint.handle(call);
      } finally {
        // Even if it failed: part of the change may be stored.
        directory.forget();
      }
    },
  };
}

/**
 * The endpoints of a listener that forwards everything else: Send, Get, and the files of `/docs`, which, if they were forwarded,
 * would be held in memory for each client until it has read them. Dry runs are forwarded: only the main thread knows the
 * connectors' state.
 */
export function messageEndpoints(
  { store: { intake, messages }, ids, docsAsset }: HandlerDeps,
  { directory }: EndpointParts,
): readonly Endpoint[] {
  const connectorStatus = () => {
    throw new Forwarded();
  };
  const deps = { intake, directory, ids, createdAtOf: createCreatedAt(), connectorStatus };
  return [
    ...smsEndpoints(deps),
    ...emailEndpoints(deps),
    ...getEndpoints(messages),
    ...docsEndpoints({ docsAsset }),
  ];
}
