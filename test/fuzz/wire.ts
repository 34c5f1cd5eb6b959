/** Sends octets to a service and reads what comes back, without an HTTP client that would correct either. */
import { connect } from "node:net";

export interface Ending {
  /** Ends this side of the connection after sending. */
  readonly ends?: boolean;
  /** After so long without an answer the service is taken to wait for more. */
  readonly silenceMs?: number;
}

/** Marks the end of what came back before the service was given up as silent. */
const GIVEN_UP = "\0given up";

export function isGivenUp(heard: string): boolean {
  return heard.endsWith(GIVEN_UP);
}

/**
 * Resolves with what came back, once the service has closed the connection or has been silent for too long.
 */
export async function exchange(
  port: number,
  sent: string | readonly string[],
  { ends = false, silenceMs = 10_000 }: Ending = {},
): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  let heard = "";
  socket.on("data", (chunk: Buffer) => {
    heard += chunk.toString("latin1");
  });
  socket.on("error", () => {});
  socket.on("end", () => socket.destroy());
  socket.setTimeout(silenceMs, () => {
    heard += GIVEN_UP;
    socket.destroy();
  });
  const closed = new Promise<void>((resolve) => void socket.once("close", () => resolve()));
  for (const piece of typeof sent === "string" ? [sent] : sent) {
    await new Promise<void>((resolve) => void socket.write(piece, "latin1", () => resolve()));
  }
  if (ends) socket.end();
  await closed;
  return heard;
}

/** The status of the answer, not of a `100 Continue` before it; `undefined` without an answer. */
export function statusOf(heard: string): number | undefined {
  const [first, second] = [...heard.matchAll(/HTTP\/1\.1 (\d{3}) [A-Z]/g)].map(([, status]) =>
    Number(status),
  );
  return first === 100 ? second : first;
}
