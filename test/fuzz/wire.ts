/** Bytes to a service, and what comes back, with nothing between that would put either right. */
import { connect } from "node:net";

/** Silent for so long, the other end waits for more, and gets none. */
const SILENCE_MS = 500;

/**
 * What came back when the service has closed the connection, or waits for more. `ends`: this end has nothing more to
 * say, and says so.
 */
export async function exchange(
  port: number,
  sent: string | readonly string[],
  { ends = false } = {},
): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  let heard = "";
  socket.on("data", (chunk: Buffer) => {
    heard += chunk.toString("latin1");
  });
  socket.on("error", () => {});
  socket.on("end", () => socket.destroy());
  socket.setTimeout(SILENCE_MS, () => socket.destroy());
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
