/** Connections to the one of several servers that takes writes. After a failover it is another one. */
import { Pool, type PoolClient, type PoolConfig } from "pg";
import { errorText } from "../../../core/error-text.ts";
import { isOutOfConnections, READ_ONLY } from "../database/sql-errors.ts";
import { readHosts } from "./hosts.ts";
import { sessionOptions } from "./session-settings.ts";

export interface Connections {
  /** Lends a connection; throws `NoHost` if servers could not be used for different reasons, and otherwise the error. */
  lend(): Promise<PoolClient>;
  /** How many calls wait for a connection. */
  waiting(): number;
  /** To be called when a server that took writes refuses them: each connection is then judged again before it is lent. */
  judgeAgain(): void;
  /** To be called when the way to the server leads to another one than before: connections that are open now are lent no more. */
  renew(): void;
  close(): Promise<void>;
}

/** @param settings those of each server's pool */
export function openConnections(url: string, settings: PoolConfig): Connections {
  const { urls, isToBeWritable, isPrepared, options, applicationName } = readHosts(url);
  const session = {
    ...(applicationName && { application_name: `${settings.application_name} ${applicationName}` }),
    ...(isPrepared && { options: sessionOptions(options, settings.query_timeout) }),
  };
  const { pools, lendOf, renew } = openPools(urls, { ...settings, ...session });
  /** Connections known to take writes. Emptied by `judgeAgain`: a former primary may become read-only while they stay open. */
  let writable = new WeakSet<PoolClient>();
  let current = 0;

  const lendFrom = async (index: number): Promise<PoolClient> => {
    const client = await lendOf(pools[index] as Pool);
    // If `judgeAgain` is called meanwhile, the result goes into the set that has been replaced, and so is forgotten.
    const known = writable;
    if (!isToBeWritable || known.has(client)) return client;
    const isReadOnlyServer = await isReadOnly(client).catch((error) => {
      client.release(true);
      throw error;
    });
    if (isReadOnlyServer) {
      client.release(true);
      throw new TakesNoWrites(`the server is read-only: ${READ_ONLY}`);
    }
    known.add(client);
    return client;
  };
  return {
    async lend() {
      const inTurn = pools.map((_, tried) => (current + tried) % pools.length);
      const { client, index } = await lendFromFirst(inTurn, lendFrom);
      current = index;
      return client;
    },
    waiting: () => pools.reduce((sum, pool) => sum + pool.waitingCount, 0),
    judgeAgain() {
      writable = new WeakSet();
    },
    renew,
    close: async () => void (await Promise.all(pools.map((pool) => pool.end()))),
  };
}

/** Tries the hosts in this order. */
async function lendFromFirst(
  hosts: readonly number[],
  lendFrom: (index: number) => Promise<PoolClient>,
): Promise<{ readonly client: PoolClient; readonly index: number }> {
  const errors: unknown[] = [];
  for (const index of hosts) {
    try {
      return { client: await lendFrom(index), index };
    } catch (error) {
      errors.push(error);
    }
  }
  throw ofAll(errors);
}

class TakesNoWrites extends Error {}

/** None of several hosts can be used. Says what each has said; `cause`: the error of the last one tried. */
export class NoHost extends Error {}

/** Any of them may be the primary, except a standby. What that says comes last: it takes no writes as long as there is a primary. */
function ofAll(errors: readonly unknown[]): unknown {
  const isStandby = (error: unknown) => error instanceof TakesNoWrites;
  const inOrder = [...errors.filter((error) => !isStandby(error)), ...errors.filter(isStandby)];
  const words = new Set(inOrder.map(errorText));
  const last = errors.at(-1);
  return words.size > 1 ? new NoHost([...words].join("; of another host: "), { cause: last }) : last;
}

function openPools(urls: readonly string[], settings: PoolConfig) {
  /** Emptied by `renew`: a former primary may go on for those that are connected. */
  let usable = new WeakSet<PoolClient>();
  const onConnect = (client: PoolClient) => void usable.add(client);
  const pools = urls.map((connectionString) => openPool({ ...settings, connectionString }, onConnect));
  const lendOf = async (pool: Pool): Promise<PoolClient> => {
    const client = await lendOneOf(pool, settings.max);
    if (usable.has(client)) return client;
    client.release(true);
    return lendOf(pool);
  };
  return {
    pools,
    lendOf,
    renew() {
      usable = new WeakSet();
    },
  };
}

function openPool(settings: PoolConfig, onConnect: (client: PoolClient) => void): Pool {
  const pool = new Pool(settings);
  // A connection that is lost while idle leaves the pool, and the next call makes another.
  pool.on("error", () => undefined);
  // A connection that is lost while lent fails its next statement. Without a listener the event would end the process.
  pool.on("connect", (client) => void client.on("error", () => undefined));
  pool.on("connect", onConnect);
  return pool;
}

/**
 * Where the server has no connection left for us, waits for one of those that the pool has: for a while it is a pool of so many.
 * Throws if it has none.
 */
async function lendOneOf(pool: Pool, max = 1): Promise<PoolClient> {
  for (let tried = 1; ; tried++) {
    try {
      return await pool.connect();
    } catch (error) {
      // Others of the pool may be refused next: then it has fewer than there seem to be now.
      if (!isOutOfConnections(error) || pool.totalCount === 0 || tried > max) throw error;
      if (pool.listenerCount("acquire") === 0) growLater(pool, max);
      pool.options.max = pool.totalCount;
    }
  }
}

/** After so many calls the server is asked again. Counted, since each refusal is work for a server that is busy. */
const CALLS_UNTIL_ASKED = 200;

function growLater(pool: Pool, max: number): void {
  let left = CALLS_UNTIL_ASKED;
  const count = () => {
    if (--left > 0) return;
    pool.off("acquire", count);
    pool.options.max = max;
  };
  pool.on("acquire", count);
}

async function isReadOnly(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ is_reading: boolean }>(
    "SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on' AS is_reading",
  );
  return rows[0]?.is_reading !== false;
}
