import { sleep } from "../../core/clock.ts";
import type { ClaimedJob, Settlement } from "../../core/queue/claimed-job.ts";
import { isOutage, STORE_RETRY_MS, StoreUnavailable } from "../../store/store.ts";
import type { AttemptDeps } from "../attempt.ts";
import { judgeUnprepared } from "../judge.ts";

/**
 * For a message that could not be prepared. Nothing was handed over, so its job must not count as interrupted, as it would when its
 * lease ends. Resolves with `undefined` if it goes back in line: the database was away. Otherwise it waits, since its text is on a damaged
 * page of the database, or it is a bug.
 */
export async function putOff(
  { clock, log, signal }: Pick<AttemptDeps, "clock" | "log" | "signal">,
  job: ClaimedJob,
  error: unknown,
): Promise<Settlement | undefined> {
  const fields = { err: error, message_id: job.messageId };
  if (isOutage(error)) {
    log.warn(fields, "a message could not be prepared; it is tried again");
    await sleep(clock, STORE_RETRY_MS, signal);
    return undefined;
  }
  const cause = error instanceof StoreUnavailable ? "the database is damaged" : "a bug";
  log.error(fields, `a message could not be prepared: ${cause}; it is tried again in a minute`);
  return judgeUnprepared(job, clock.now());
}
