import { Agent } from "node:https";
import type { Clock } from "../core/clock.ts";

/** One end of connections: they are used again only for the same address, port and name. */
export interface Endpoint {
  /** Vetted for this very attempt. */
  readonly address: string;
  readonly port: number;
  /** For SNI and the certificate; absent where the URL names an address. */
  readonly servername?: string;
}

export interface ConnectionPool {
  /** Connections to the endpoint, the idle ones first. `release` when the exchange is over. */
  lend(endpoint: Endpoint): { readonly agent: Agent; readonly release: () => void };
  /** Closes idle connections; those lent out when they are given back. */
  close(): void;
}

/** Idle connections are closed sooner than most servers do it, so that few are found dead. */
const IDLE_MS = 4_000;

/** Connections kept, idle ones included; beyond it the endpoints idle for longest lose theirs. */
const MAX_KEPT = 3_072;

/** An agent per endpoint, so that no request meets a connection that was opened for another address or name. */
export function createConnectionPool(clock: Clock, maxKept = MAX_KEPT): ConnectionPool {
  const lines = createLines(maxKept);
  let isClosed = false;

  const giveBack = (line: Line) => {
    line.inUse--;
    if (line.inUse > 0) return;
    if (isClosed) return lines.drop(line);
    line.cancelIdle = clock.after(IDLE_MS, () => lines.drop(line));
    lines.trim();
  };
  return {
    lend({ address, port, servername = "" }) {
      const line = lines.take(`${address} ${port} ${servername}`);
      return { agent: line.agent, release: () => giveBack(line) };
    },
    close() {
      isClosed = true;
      for (const line of lines.idle()) lines.drop(line);
    },
  };
}

interface Line {
  readonly key: string;
  readonly agent: Agent;
  inUse: number;
  /** The most that were in use at once: no more connections can have stayed open. */
  kept: number;
  cancelIdle: () => void;
}

/** In the order of their use. */
function createLines(maxKept: number) {
  const lines = new Map<string, Line>();
  let kept = 0;

  const idle = () => [...lines.values()].filter((line) => line.inUse === 0);
  const drop = (line: Line) => {
    line.cancelIdle();
    lines.delete(line.key);
    kept -= line.kept;
    line.agent.destroy();
  };
  const trim = () => {
    if (kept <= maxKept) return;
    for (const line of idle()) if (kept > maxKept) drop(line);
  };
  const take = (key: string): Line => {
    const line = lines.get(key) ?? openLine(key);
    line.cancelIdle();
    lines.delete(key);
    lines.set(key, line);
    line.inUse++;
    if (line.inUse > line.kept) {
      line.kept++;
      kept++;
    }
    trim();
    return line;
  };
  return { idle, drop, trim, take };
}

function openLine(key: string): Line {
  return { key, agent: new Agent({ keepAlive: true }), inUse: 0, kept: 0, cancelIdle: () => {} };
}
