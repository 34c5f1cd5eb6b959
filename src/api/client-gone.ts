import { turnEnd } from "../core/work/turn-end.ts";
import { clientGone } from "./errors.ts";

/**
 * Whether nobody waits for the answer. To be asked at the end of the turn that brought the last of the request: until then the
 * listener has not looked at what came right behind it. If that is no request, such as the empty line that some clients write after a
 * body, or another one before the answer, it says 400, or nothing, and closes the connection. A request that is carried out all the
 * same would be repeated. Seen a turn later: a client that hangs up, and over TLS another request.
 */
export function isClientGone({ signal }: Request): boolean {
  return signal.aborted;
}

/** Runs what may change something, at the end of the turn, unless nobody waits for its answer. For a request whose body is not awaited here. */
export async function unlessClientGone<T>(request: Request, run: () => T | Promise<T>): Promise<T> {
  await new Promise<void>(turnEnd.first);
  if (isClientGone(request)) throw clientGone();
  return run();
}
