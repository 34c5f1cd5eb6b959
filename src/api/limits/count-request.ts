import { tooManyRequests } from "../errors.ts";
import type { NamedLimit, RateLimiter } from "./rate-limit.ts";

/** Counts a request against a limit; refuses it with 429 once the limit is used up. */
export function countRequest(limiter: RateLimiter, limit: NamedLimit): void {
  const waitSeconds = limiter.take(limit);
  if (waitSeconds !== undefined) throw tooManyRequests(waitSeconds);
}
