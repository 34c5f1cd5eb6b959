import { tooManyRequests } from "../errors.ts";
import type { NamedLimit, RateLimiter } from "./rate-limit.ts";

/** Counts a request against limits; refuses it with 429 once one of them is used up. */
export function countRequest(limiter: RateLimiter, ...limits: readonly NamedLimit[]): void {
  const waitSeconds = limiter.take(...limits);
  if (waitSeconds !== undefined) throw tooManyRequests(waitSeconds);
}
