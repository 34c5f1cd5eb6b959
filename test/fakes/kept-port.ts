/** A port that stays reserved for the test while nobody listens on it. */
import { createServer } from "node:net";

/** Below the ephemeral ports, which the system may give to another process at any moment. */
const FIRST = 20_000;
const COUNT = 10_000;

/** Ports from which the next process begins: more than one uses while another that was started beside it is at work. */
const PER_PROCESS = 211;

/** A port of 127.0.0.1 that is free, and stays so as long as the test does not listen on it: each is given once. */
export async function keptPort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = FIRST + ((process.pid * PER_PROCESS + given++) % COUNT);
    if (await isFree(port)) return port;
  }
  throw new Error(`a hundred ports in a row between ${FIRST} and ${FIRST + COUNT} are taken`);
}

let given = 0;

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
