/** A port that is the test's own, also while nobody listens on it. */
import { createServer } from "node:net";

/** Below those that a machine gives to whoever asks for any: a port from among them may be somebody else's a moment later. */
const FIRST = 20_000;
const COUNT = 10_000;

/** A port of 127.0.0.1 that is free, and stays so as long as the test does not listen on it. */
export async function keptPort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
