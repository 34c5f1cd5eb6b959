import type { Clock } from "../core/clock.ts";
import { createLargeBodyThread } from "./large-bodies/create-large-body-thread.ts";
import { createLookups } from "./network/create-lookups.ts";

/** The threads that take work off the event loop, started when there is some. Their programs lie beside this file, also in the binary. */
export function createThreads(clock: Clock) {
  return {
    largeBodies: createLargeBodyThread({
      program: new URL("./large-body-thread.ts", import.meta.url),
      clock,
    }),
    lookups: createLookups({ program: new URL("./lookup-thread.ts", import.meta.url), clock }),
  };
}
