/** Runs `load.ts` and reads what it says. */
import { join } from "node:path";

export interface Offered {
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly answered: number;
  /** Answers other than 2xx. */
  readonly refused: number;
}

export async function offer(load: {
  readonly port: number;
  readonly requests: number;
  readonly connections: number;
  /** One HTTP request, with `{n}` where a number counts up. */
  readonly request: string;
}): Promise<Offered> {
  const counts = [load.port, load.requests, load.connections].map(String);
  const run = Bun.spawn([process.execPath, join(import.meta.dir, "load.ts"), ...counts], {
    stdin: new Blob([load.request]),
    stdout: "pipe",
    stderr: "inherit",
  });
  const offered = JSON.parse(await new Response(run.stdout).text()) as Offered;
  if (offered.answered !== load.requests || offered.refused > 0)
    throw new Error(
      `of ${load.requests} requests ${offered.answered} were answered, ${offered.refused} not with 2xx`,
    );
  return offered;
}

/** An HTTP/1.1 request as it goes over the wire. */
export function httpRequest(line: string, headers: Readonly<Record<string, string>>, body = ""): string {
  const all = { Host: "127.0.0.1", ...headers, ...(body && { "Content-Length": String(body.length) }) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}
