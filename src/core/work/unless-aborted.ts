/** Settles as the promise does. If the signal aborts first, resolves with `undefined` and ignores the promise's result or error. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  let onAbort = () => {};
  const aborted = new Promise<undefined>((resolve) => {
    onAbort = () => resolve(undefined);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
  });
  return Promise.race([aborted, promise]).finally(() => signal.removeEventListener("abort", onAbort));
}
