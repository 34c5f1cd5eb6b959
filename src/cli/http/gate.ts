import type { AnswerRequest } from "../../api/app-deps.ts";

/** Answers 503 with Retry-After until it is opened, so that the port can be bound before all parts are ready. */
export function createGate(ids: () => string) {
  let open: AnswerRequest | undefined;
  let isDraining = false;
  const closed = async () =>
    Response.json(
      { code: 503, message: "service unavailable" },
      { status: 503, headers: { "Retry-After": "1", "X-Request-Id": ids() } },
    );
  return {
    fetch: ((request, addressOf) => (open ? open(request, addressOf) : closed())) satisfies AnswerRequest,
    open(fetch: AnswerRequest) {
      open = fetch;
    },
    drain() {
      isDraining = true;
    },
    isDraining: () => isDraining,
  };
}
