import { fullUrl } from "./router.ts";

/** Thrown if another listener has to answer: only that one counts rate limits and knows the state of connectors. */
export class HandedOn extends Error {
  override readonly name = "HandedOn";

  /** `body`: the body of the request, if it has been read already. */
  constructor(readonly body?: string) {
    super("the request is another listener's to answer");
  }

  /** The request with its body, to be read once more. */
  restore(request: Request): Request {
    const { method, headers } = request;
    return this.body === undefined
      ? request
      : new Request(fullUrl(request.url), { method, headers, body: this.body });
  }
}
