import { expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { unlessAborted } from "./unless-aborted.ts";

test("what the promise comes to is passed on, and nothing listens to the signal any longer", async () => {
  const { signal } = new AbortController();
  const [fine, failed] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const outcomes = Promise.allSettled([
    unlessAborted(fine.promise, signal),
    unlessAborted(failed.promise, signal),
  ]);
  expect(getEventListeners(signal, "abort")).toHaveLength(2);
  fine.resolve("found");
  failed.reject(new Error("no answer"));
  expect(await outcomes).toMatchObject([{ value: "found" }, { reason: { message: "no answer" } }]);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test.each(["before", "while"])(
  "a signal that aborts %s it waits ends the wait, and later failures are ignored",
  async (when) => {
    const controller = new AbortController();
    if (when === "before") controller.abort();
    const { promise, reject } = Promise.withResolvers<string>();
    const outcome = unlessAborted(promise, controller.signal);
    controller.abort();
    expect(await outcome).toBeUndefined();
    reject(new Error("too late"));
    // The runner takes an error that nobody handles for a failure.
    await setImmediate();
  },
);
