/** The id a client gave its request, so that both logs tell the same story; `undefined` where it gave none fit to repeat. */
export function requestIdOf(headers: Headers): string | undefined {
  const given = headers.get("x-request-id");
  return given !== null && SANE.test(given) ? given : undefined;
}

const SANE = /^[!-~]{1,128}$/;
