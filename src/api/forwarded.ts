import { fullUrl } from "./router.ts";

/** Thrown where the main listener has to answer instead: only that one counts rate limits and knows the connectors' state. */
export class Forwarded extends Error {
  override readonly name = "Forwarded";

  /** `body`: the text of the body, if it has been read already. */
  constructor(readonly body?: string) {
    super("the main listener has to answer this request");
  }

  /** The request with its body, to be read again. The length is computed anew: decoding removed chunks and a byte order mark. */
  restore(request: Request): Request {
    if (this.body === undefined) return request;
    const { method } = request;
    const headers = new Headers(request.headers);
    headers.delete("transfer-encoding");
    headers.set("content-length", String(Buffer.byteLength(this.body)));
    return new Request(fullUrl(request.url), { method, headers, body: this.body });
  }
}
