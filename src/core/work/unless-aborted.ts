/** Resolves as the promise does; with `undefined` if the signal aborts first, and then the promise's result or error is ignored. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  let onAbort = () => {};
  const aborted = new Promise<undefined>((resolve) => {
    onAbort = () => resolve(undefined);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
  });
  return Promise.race([aborted, promise]).finally(() => signal.removeEventListener("abort", onAbort));
}
