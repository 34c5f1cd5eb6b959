/**
 * Hands requests from a listener thread to the main thread, over a Unix socket in a folder that only this user may enter.
 * The main thread sees them with their original URL and client address.
 */
import type { AnswerRequest } from "../../api/app-deps.ts";
import { refusalResponse, serviceUnavailable } from "../../api/errors.ts";
import { fullUrl } from "../../api/router.ts";

const URL_HEADER = "x-postrider-url";
const ADDRESS_HEADER = "x-postrider-address";

/** Hands requests to whoever answers on `socket`; 503 if nobody does. */
export function createHandOn(socket: string): AnswerRequest {
  return async (request, addressOf) => {
    const headers = new Headers(request.headers);
    headers.set(URL_HEADER, request.url);
    headers.set(ADDRESS_HEADER, addressOf(request));
    const { method, body, signal } = request;
    const passed = { method, headers, signal, redirect: "manual", ...(body && { body }) } as const;
    try {
      return await fetch("http://postrider", { ...passed, unix: socket, decompress: false });
    } catch {
      return refusalResponse(serviceUnavailable());
    }
  };
}

/**
 * Has the runtime open the files of its HTTP client, by a request to `socket`, on which nobody listens. If it could not open
 * them later, because too many clients are connected, it would end the process.
 */
export async function prepareHandOn(socket: string): Promise<void> {
  await fetch("http://postrider", { unix: socket }).catch(() => {});
}

/** The handler at the other end: restores the original request for `answer`. */
export function answerHandedOn(answer: AnswerRequest): (request: Request) => Promise<Response> {
  return (request) => {
    const headers = new Headers(request.headers);
    const url = fullUrl(headers.get(URL_HEADER) ?? request.url);
    const address = headers.get(ADDRESS_HEADER) ?? "";
    for (const name of [URL_HEADER, ADDRESS_HEADER]) headers.delete(name);
    const { method, body, signal } = request;
    return answer(new Request(url, { method, headers, signal, ...(body && { body }) }), () => address);
  };
}
