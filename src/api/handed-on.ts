import { fullUrl } from "./router.ts";

/** Thrown if another listener has to answer: only that one counts rate limits and knows the state of connectors. */
export class HandedOn extends Error {
  override readonly name = "HandedOn";

  /** `body`: the body of the request, if it has been read already. */
  constructor(readonly body?: string) {
    super("the request is another listener's to answer");
  }

  /** The request with its body, to be read once more: of the length that it has now, without a byte order mark or chunks. */
  restore(request: Request): Request {
    if (this.body === undefined) return request;
    const { method } = request;
    const headers = new Headers(request.headers);
    headers.delete("transfer-encoding");
    headers.set("content-length", String(Buffer.byteLength(this.body)));
    return new Request(fullUrl(request.url), { method, headers, body: this.body });
  }
}
