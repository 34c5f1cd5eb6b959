/** What the promise resolves with; `undefined` if the signal aborts first. Then its result or error is ignored. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  let onAbort = () => {};
  const aborted = new Promise<undefined>((resolve) => {
    onAbort = () => resolve(undefined);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
  });
  return Promise.race([aborted, promise]).finally(() => signal.removeEventListener("abort", onAbort));
}
