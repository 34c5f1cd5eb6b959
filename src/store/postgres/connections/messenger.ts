/**
 * Short messages ("words") between the processes on one database, by LISTEN and NOTIFY. They may be lost, so a process that
 * waits for one polls as well.
 */
import type { PoolClient } from "pg";
import type { Clock } from "../../../core/clock.ts";
import { openConnections } from "./connections.ts";
import type { CopyWatch } from "./copy-watch.ts";

export interface Messenger {
  /** Sends the word to all other processes soon. Returns at once, and does not say whether it was sent. */
  tell(word: string): void;
  /** Listens over another connection: the one that is open may lead to a server that the others no longer use. */
  renew(): void;
  close(): Promise<void>;
}

export interface MessengerOptions {
  readonly url: string;
  readonly clock: Clock;
  /** Called with each word from another process. */
  readonly hear: (word: string) => void;
  /** Uses the messenger's connection: its mark lasts as long as the session, and this is the only session that stays open. */
  readonly copies?: CopyWatch;
}

/** The least time between two NOTIFYs: the commit of each takes a lock that the whole server shares. */
const EVERY_MS = 50;

/** How many words may wait; further ones are lost. */
const MAX_WAITING = 1_000;

/** The most octets in one NOTIFY. PostgreSQL takes fewer than 8,000. */
const MAX_OCTETS = 7_500;

/** The pause between two looks for copies. */
const COPIES_EVERY_MS = 30_000;

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

const SETTINGS = {
  max: 1,
  connectionTimeoutMillis: 5_000,
  query_timeout: 5_000,
  keepAlive: true,
  application_name: "postrider messenger",
};

/** Uses one connection of its own for both directions, and reconnects when it is lost. */
export function openMessenger({ url, clock, hear, copies }: MessengerOptions): Messenger {
  const connections = openConnections(url, SETTINGS);
  const outgoing = createOutgoing(clock);
  const looks = createLooks(clock, copies);
  let link: Link | undefined;
  let isClosed = false;
  let renewals = 0;
  const retry = createRetry(clock, () => void connect());

  const reconnect = (lost: Link) => {
    lost.drop();
    if (link !== lost) return;
    link = undefined;
    looks.end();
    outgoing.hold();
    retry.later();
  };
  const connect = async () => {
    const before = renewals;
    const made = await openLink(connections.lend, hear).catch(() => undefined);
    if (!made) return retry.later();
    if (isClosed) return made.drop();
    link = made;
    made.onLost(() => reconnect(made));
    retry.worked();
    looks.begin(made, () => reconnect(made));
    outgoing.release(async (words) => {
      if (!(await made.send(words))) reconnect(made);
    });
    if (renewals !== before) reconnect(made);
  };

  const opened = connect();
  return {
    tell: outgoing.add,
    renew() {
      renewals++;
      if (link) reconnect(link);
    },
    async close() {
      isClosed = true;
      retry.end();
      looks.end();
      outgoing.hold();
      await opened;
      link?.drop();
      await connections.close();
    },
  };
}

/** Runs again later, after longer and longer pauses until it has worked. */
function createRetry(clock: Clock, run: () => void) {
  let pauseMs = FIRST_PAUSE_MS;
  let isEnded = false;
  let cancel = () => {};
  return {
    later() {
      if (isEnded) return;
      cancel = clock.after(pauseMs, run);
      pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs);
    },
    worked() {
      pauseMs = FIRST_PAUSE_MS;
    },
    end() {
      isEnded = true;
      cancel();
    },
  };
}

/** Words that wait to be sent: for `EVERY_MS` to be over, and for a connection. */
function createOutgoing(clock: Clock) {
  const waiting = new Set<string>();
  let send: ((words: readonly string[]) => Promise<void>) | undefined;
  let sentMs = -EVERY_MS;
  let isPlanned = false;

  const plan = () => {
    if (!send || waiting.size === 0 || isPlanned) return;
    isPlanned = true;
    clock.after(Math.max(0, sentMs + EVERY_MS - clock.monotonicMs()), () => void sendNow());
  };
  const sendNow = async () => {
    sentMs = clock.monotonicMs();
    await send?.(takeWords(waiting));
    isPlanned = false;
    plan();
  };
  return {
    add(word: string) {
      if (waiting.size < MAX_WAITING) waiting.add(word);
      plan();
    },
    release(by: (words: readonly string[]) => Promise<void>) {
      send = by;
      plan();
    },
    hold() {
      send = undefined;
    },
  };
}

/** Looks for copies, again and again, on the connection that is used now. */
function createLooks(clock: Clock, copies: CopyWatch | undefined) {
  let current: Link | undefined;
  let cancel = () => {};

  const lookLater = (link: Link, watch: CopyWatch, onFailed: () => void) => {
    if (link !== current) return;
    cancel = clock.after(COPIES_EVERY_MS, async () => {
      const isUsable = await link.use(watch.look);
      if (isUsable) lookLater(link, watch, onFailed);
      else if (link === current) onFailed();
    });
  };
  return {
    /** `onFailed`: the connection may have fallen silent, and then nothing is heard on it either. */
    begin(link: Link, onFailed: () => void) {
      current = link;
      if (copies) void link.use(copies.look).then(() => lookLater(link, copies, onFailed));
    },
    end() {
      current = undefined;
      cancel();
    },
  };
}

interface Link {
  drop(): void;
  onLost(run: () => void): void;
  /** False if the connection did not take them. */
  send(words: readonly string[]): Promise<boolean>;
  /** Runs `work` on the connection. False if it failed. */
  use(work: (session: PoolClient) => Promise<void>): Promise<boolean>;
}

const CHANNEL = "postrider";

async function openLink(lend: () => Promise<PoolClient>, hear: (word: string) => void): Promise<Link> {
  const client = await lend();
  try {
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    await client.query(`LISTEN ${CHANNEL}`);
    client.on("notification", ({ processId, payload }) => {
      if (processId !== rows[0]?.pid) for (const word of readWords(payload)) hear(word);
    });
  } catch (error) {
    client.release(true);
    throw error;
  }
  let isDropped = false;
  return {
    drop() {
      if (!isDropped) client.release(true);
      isDropped = true;
    },
    onLost: (run) => void client.once("end", run),
    send: (words) =>
      client.query<Sent>(SEND, [CHANNEL, JSON.stringify(words)]).then(
        ({ rows }) => rows[0]?.is_read_only !== true,
        () => false,
      ),
    use: (work) =>
      work(client).then(
        () => true,
        () => false,
      ),
  };
}

interface Sent {
  /** True on a former primary, which the other processes no longer use. */
  readonly is_read_only: boolean;
}

const SEND = "SELECT pg_notify($1, $2), current_setting('transaction_read_only')::bool AS is_read_only";

/** Takes as many words as fit into one NOTIFY; one that would never fit is dropped. */
function takeWords(waiting: Set<string>): readonly string[] {
  const words: string[] = [];
  let octets = 2;
  for (const word of waiting) {
    octets += Buffer.byteLength(JSON.stringify(word)) + 1;
    if (octets > MAX_OCTETS && words.length > 0) break;
    waiting.delete(word);
    if (octets <= MAX_OCTETS) words.push(word);
  }
  return words;
}

/** Another version may write in another form. What cannot be read counts as lost. */
function readWords(payload: string | undefined): readonly string[] {
  try {
    const words: unknown = JSON.parse(payload ?? "[]");
    return Array.isArray(words) ? words.filter((word) => typeof word === "string") : [];
  } catch {
    return [];
  }
}
