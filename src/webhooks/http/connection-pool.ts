import type { SecureContext } from "node:tls";
import type { Clock } from "../../core/clock.ts";
import { type Connection, type Endpoint, openConnection } from "./connection.ts";

export interface ConnectionPool {
  /** A kept connection to the endpoint, the one used last; nobody attends it. */
  take(endpoint: Endpoint): Connection | undefined;
  /** A new one. */
  open(endpoint: Endpoint): Connection;
  /** It may serve another exchange; nobody attends it any more. */
  giveBack(endpoint: Endpoint, connection: Connection): void;
  /** Closes idle connections; those in use when they are given back. */
  close(): void;
}

export interface ConnectionPoolDeps {
  readonly clock: Clock;
  readonly secureContext: SecureContext;
  /** Connections, idle ones included; beyond it those idle for longest are closed. */
  readonly maxOpen?: number;
}

/** Idle connections are closed sooner than most servers do it, so that few are found dead. */
const IDLE_MS = 4_000;
const MAX_OPEN = 3_072;

/** A connection serves one exchange after the other, and never another address, port or name. */
export function createConnectionPool({
  clock,
  secureContext,
  maxOpen = MAX_OPEN,
}: ConnectionPoolDeps): ConnectionPool {
  const idle = createShelf();
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

/** Closes what has been idle for long enough, by one timer for all. */
function createSweep(clock: Clock, idle: Pick<Shelf, "all">) {
  let cancel: (() => void) | undefined;
  const sweep = () => {
    const now = clock.monotonicMs();
    for (const kept of idle.all()) {
      const restMs = kept.since + IDLE_MS - now;
      if (restMs > 0) {
        cancel = clock.after(restMs, sweep);
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

type Shelf = ReturnType<typeof createShelf>;

/** Idle connections in the order in which they became so, altogether and of each endpoint. */
function createShelf() {
  const all = new Map<Connection, Kept>();
  const lines = new Map<string, Kept[]>();

  return {
    all: () => all.values(),
    add(kept: Kept) {
      all.set(kept.connection, kept);
      const line = lines.get(kept.key);
      if (line) line.push(kept);
      else lines.set(kept.key, [kept]);
    },
    takeLast(key: string): Kept | undefined {
      const line = lines.get(key);
      const kept = line?.pop();
      if (line?.length === 0) lines.delete(key);
      if (kept) all.delete(kept.connection);
      return kept;
    },
    remove(connection: Connection) {
      const kept = all.get(connection);
      const line = kept && lines.get(kept.key);
      if (!line) return;
      all.delete(connection);
      line.splice(line.indexOf(kept), 1);
      if (line.length === 0) lines.delete(kept.key);
    },
  };
}
