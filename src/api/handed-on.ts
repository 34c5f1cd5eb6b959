import { fullUrl } from "./router.ts";

/** Thrown where another listener has to answer: it alone counts what is limited, and knows the connectors. */
export class HandedOn extends Error {
  override readonly name = "HandedOn";

  /** `body`: the request's, where it has been read already. */
  constructor(readonly body?: string) {
    super("the request is another listener's to answer");
  }

  /** The request, as it came. */
  restore(request: Request): Request {
    const { method, headers } = request;
    return this.body === undefined
      ? request
      : new Request(fullUrl(request.url), { method, headers, body: this.body });
  }
}
