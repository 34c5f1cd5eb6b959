/** The client's `X-Request-Id`, so that its log and ours use one id; `undefined` without one that can be echoed. */
export function requestIdOf(headers: Headers): string | undefined {
  const given = headers.get("x-request-id");
  return given !== null && SANE.test(given) ? given : undefined;
}

const SANE = /^[!-~]{1,128}$/;
