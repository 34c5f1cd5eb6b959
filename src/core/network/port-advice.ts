/**
 * Advice about a port that could not be opened, to append to the reason: a clause that starts with a semicolon, or empty.
 * `reason` is the runtime's text, which names the error code or describes it.
 */
export function portAdvice(reason: string, port: number): string {
  if (port < 1024 && /EACCES|permission denied/i.test(reason)) {
    return "; a port below 1024 needs the capability CAP_NET_BIND_SERVICE (deploy/postrider.service shows how to grant it)";
  }
  return "";
}
