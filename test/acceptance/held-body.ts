/** A body of which all but the last character is sent at once, and that at `end`. */
export function heldBody(text: string): {
  readonly body: ReadableStream<Uint8Array>;
  readonly end: () => void;
} {
  const octets = new TextEncoder().encode(text);
  const last = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(octets.subarray(0, -1));
      await last.promise;
      controller.enqueue(octets.subarray(-1));
      controller.close();
    },
  });
  return { body, end: last.resolve };
}
