/** A port that stays reserved for the test while nobody listens on it. */
import { createServer } from "node:net";

/** Below the ephemeral ports, which the system may give to another process at any moment. */
const FIRST = 20_000;
const COUNT = 10_000;

/** A port of 127.0.0.1 that is free, and stays so as long as the test does not listen on it. */
export async function keptPort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
  throw new Error(`none of a hundred ports from ${FIRST} on is free`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
