import { CORS_HEADERS, preflightResponse } from "./cors.ts";
import { refusalResponse, serviceUnavailable } from "./errors.ts";
import { pathOf } from "./router.ts";

/**
 * The 503 of what stands before the endpoints, where no router says which one a request is for. A page sees it only with the headers of
 * the push endpoints, and after a preflight that went well: else it could not tell a start from a wrong address.
 */
export function unavailableResponse({ method, url }: Request, requestId: string): Response {
  const isForPages = pathOf(url).startsWith(OPEN_TO_PAGES);
  if (isForPages && method === "OPTIONS") return preflightResponse("POST, OPTIONS");
  const response = refusalResponse(serviceUnavailable(), requestId);
  if (isForPages) for (const [name, value] of Object.entries(CORS_HEADERS)) response.headers.set(name, value);
  return response;
}

const OPEN_TO_PAGES = "/v1/push/";
