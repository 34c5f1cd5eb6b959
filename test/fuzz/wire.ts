/** Bytes to a service, and what comes back, with nothing between that would put either right. */
import { connect } from "node:net";

export interface Ending {
  /** This end has nothing more to say, and says so. */
  readonly ends?: boolean;
  /** Silent for so long, the other end waits for more, and gets none. */
  readonly silenceMs?: number;
}

/** At the end of what came back from one that was silent: it may have been about to answer. */
const GIVEN_UP = "\0given up";

export function isGivenUp(heard: string): boolean {
  return heard.endsWith(GIVEN_UP);
}

/**
 * What came back when the service has closed the connection, or has been silent for too long.
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

/** Of the answer, the one after `100 Continue` where there is one; `undefined` where there is none. */
export function statusOf(heard: string): number | undefined {
  const [first, second] = [...heard.matchAll(/HTTP\/1\.1 (\d{3}) [A-Z]/g)].map(([, status]) =>
    Number(status),
  );
  return first === 100 ? second : first;
}
