import type { SecureContext } from "node:tls";
import type { Clock } from "../../core/clock.ts";
import { type Connection, type Endpoint, openConnection } from "./connection.ts";

export interface ConnectionPool {
  /** The idle connection to the endpoint that was used last. It has no listener. */
  take(endpoint: Endpoint): Connection | undefined;
  /** A new connection. */
  open(endpoint: Endpoint): Connection;
  /** Keeps the connection for another exchange. Its listener must be gone. */
  giveBack(endpoint: Endpoint, connection: Connection): void;
  /** Closes idle connections; those in use when they are given back. */
  close(): void;
}

export interface ConnectionPoolDeps {
  readonly clock: Clock;
  readonly secureContext: SecureContext;
  /** The most connections at once, idle ones included. Beyond that, those idle for longest are closed. */
  readonly maxOpen?: number;
}

/** Most servers keep idle connections for longer, so that few turn out to be closed. */
const IDLE_MS = 4_000;
const MAX_OPEN = 3_072;

/** A connection serves one exchange after the other, and never another address, port or name. */
export function createConnectionPool({
  clock,
  secureContext,
  maxOpen = MAX_OPEN,
}: ConnectionPoolDeps): ConnectionPool {
  const idle = createIdle();
  const sweep = createSweep(clock, idle);
  let open = 0;
  let isClosed = false;

  const makeRoom = () => {
    for (const kept of idle.all()) {
      if (open < maxOpen) return;
      kept.connection.close();
    }
  };
  return {
    take: (endpoint) => idle.takeLast(keyOf(endpoint))?.connection,
    open(endpoint) {
      makeRoom();
      open++;
      const connection = openConnection(endpoint, {
        secureContext,
        onGone() {
          open--;
          idle.remove(connection);
        },
      });
      return connection;
    },
    giveBack(endpoint, connection) {
      if (isClosed) return connection.close();
      idle.add({ key: keyOf(endpoint), connection, since: clock.monotonicMs() });
      sweep.begin();
    },
    close() {
      isClosed = true;
      sweep.cancel();
      for (const kept of idle.all()) kept.connection.close();
    },
  };
}

function keyOf({ address, port, servername = "" }: Endpoint): string {
  return `${address} ${port} ${servername}`;
}

interface Kept {
  readonly key: string;
  readonly connection: Connection;
  readonly since: number;
}

/** Closes connections that have been idle for `IDLE_MS`, with one timer for all. */
function createSweep(clock: Clock, idle: Pick<Idle, "all">) {
  let cancel: (() => void) | undefined;
  const sweep = () => {
    const now = clock.monotonicMs();
    for (const kept of idle.all()) {
      const leftMs = kept.since + IDLE_MS - now;
      if (leftMs > 0) {
        cancel = clock.after(leftMs, sweep);
        return;
      }
      kept.connection.close();
    }
    cancel = undefined;
  };
  return {
    begin() {
      cancel ??= clock.after(IDLE_MS, sweep);
    },
    cancel: () => cancel?.(),
  };
}

type Idle = ReturnType<typeof createIdle>;

/** Idle connections, all and by endpoint, the one idle for longest first. */
function createIdle() {
  const all = new Map<Connection, Kept>();
  const byKey = new Map<string, Kept[]>();

  return {
    all: () => all.values(),
    add(kept: Kept) {
      all.set(kept.connection, kept);
      const same = byKey.get(kept.key);
      if (same) same.push(kept);
      else byKey.set(kept.key, [kept]);
    },
    takeLast(key: string): Kept | undefined {
      const same = byKey.get(key);
      const kept = same?.pop();
      if (same?.length === 0) byKey.delete(key);
      if (kept) all.delete(kept.connection);
      return kept;
    },
    remove(connection: Connection) {
      const kept = all.get(connection);
      const same = kept && byKey.get(kept.key);
      if (!same) return;
      all.delete(connection);
      same.splice(same.indexOf(kept), 1);
      if (same.length === 0) byKey.delete(kept.key);
    },
  };
}
