import { type Clock, sleep } from "../../../core/clock.ts";
import { isOutage, StoreUnavailable } from "../../store.ts";
import { openPostgres, type PostgresOptions, type PostgresStore } from "../open-postgres.ts";
import { readHosts } from "./hosts.ts";
import { advised } from "./start-advice.ts";

export interface Waiting {
  readonly clock: Clock;
  /** Called after each try that found no server, with the reason, which holds no secret. */
  readonly onAway: (reason: string) => void;
}

/** How long to wait for the server at the start, since machines come up in any order. */
const PATIENCE_MS = 30_000;

const PAUSE_MS = 1_000;

/** Opens the store, and waits for a server that is not there yet. Throws with a message for the operator if it never comes. */
export async function openWhenThere(
  options: Omit<PostgresOptions, "clock">,
  { clock, onAway }: Waiting,
): Promise<PostgresStore> {
  const endMs = clock.monotonicMs() + PATIENCE_MS;
  for (;;) {
    try {
      return await openPostgres({ ...options, clock });
    } catch (error) {
      const reason = `the database at ${readHosts(options.url).place} cannot be used: ${wordsOf(error, options.url)}`;
      if (!isOutage(error) || clock.monotonicMs() >= endMs) {
        throw new Error(reason, { cause: error });
      }
      onAway(reason);
    }
    await sleep(clock, PAUSE_MS);
  }
}

/** If all addresses of a name have failed, only the errors of the single addresses have messages. */
function wordsOf(error: unknown, url: string): string {
  if (error instanceof StoreUnavailable && error.cause !== undefined) return wordsOf(error.cause, url);
  if (error instanceof AggregateError) return error.errors.map((each) => wordsOf(each, url)).join(", ");
  return advised(error, url);
}
