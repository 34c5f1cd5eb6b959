/** Short words between the processes on one database, by LISTEN and NOTIFY. They may be lost: whoever waits looks by itself too. */
import type { PoolClient } from "pg";
import type { Clock } from "../../../core/clock.ts";
import { openConnections } from "./connections.ts";

export interface Messenger {
  /** Tells all other processes soon. Nothing waits for it. */
  tell(word: string): void;
  close(): Promise<void>;
}

export interface MessengerOptions {
  readonly url: string;
  readonly clock: Clock;
  /** Called with what others tell. */
  readonly hear: (word: string) => void;
}

/** Every NOTIFY takes a lock that all of a database share. */
const EVERY_MS = 50;

/** Beyond it words are lost. */
const MAX_WAITING = 1_000;

/** PostgreSQL takes less than 8,000. */
const MAX_OCTETS = 7_500;

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

const SETTINGS = {
  max: 1,
  connectionTimeoutMillis: 5_000,
  query_timeout: 5_000,
  keepAlive: true,
  application_name: "postrider messenger",
};

/** One connection of its own, for both directions; when it is lost it is made again. */
export function openMessenger({ url, clock, hear }: MessengerOptions): Messenger {
  const connections = openConnections(url, SETTINGS);
  const outgoing = createOutgoing(clock);
  let link: Link | undefined;
  let isClosed = false;
  let pauseMs = FIRST_PAUSE_MS;
  let cancelConnect = () => {};

  const lose = (lost: Link) => {
    lost.drop();
    if (link !== lost) return;
    link = undefined;
    outgoing.hold();
    connectLater();
  };
  const connectLater = () => {
    if (isClosed) return;
    cancelConnect = clock.after(pauseMs, () => void connect());
    pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs);
  };
  const connect = async () => {
    const made = await openLink(connections.lend, hear).catch(() => undefined);
    if (!made) return connectLater();
    if (isClosed) return made.drop();
    link = made;
    made.onLost(() => lose(made));
    pauseMs = FIRST_PAUSE_MS;
    outgoing.release(async (words) => {
      if (!(await made.send(words))) lose(made);
    });
  };

  const opened = connect();
  return {
    tell: outgoing.add,
    async close() {
      isClosed = true;
      cancelConnect();
      outgoing.hold();
      await opened;
      link?.drop();
      await connections.close();
    },
  };
}

/** Words that wait for their time, and for a connection. */
function createOutgoing(clock: Clock) {
  const waiting = new Set<string>();
  let send: ((words: readonly string[]) => Promise<void>) | undefined;
  let sentMs = -EVERY_MS;
  let isPlanned = false;

  const soon = () => {
    if (!send || waiting.size === 0 || isPlanned) return;
    isPlanned = true;
    clock.after(Math.max(0, sentMs + EVERY_MS - clock.monotonicMs()), () => void now());
  };
  const now = async () => {
    sentMs = clock.monotonicMs();
    await send?.(takeWords(waiting));
    isPlanned = false;
    soon();
  };
  return {
    add(word: string) {
      if (waiting.size < MAX_WAITING) waiting.add(word);
      soon();
    },
    release(by: (words: readonly string[]) => Promise<void>) {
      send = by;
      soon();
    },
    hold() {
      send = undefined;
    },
  };
}

interface Link {
  drop(): void;
  onLost(run: () => void): void;
  /** False where the connection did not take it. */
  send(words: readonly string[]): Promise<boolean>;
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
      client.query("SELECT pg_notify($1, $2)", [CHANNEL, JSON.stringify(words)]).then(
        () => true,
        () => false,
      ),
  };
}

/** As many as one notice holds; the rest is for the next. */
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

/** Another version may write otherwise; what cannot be read is as good as lost. */
function readWords(payload: string | undefined): readonly string[] {
  try {
    const words: unknown = JSON.parse(payload ?? "[]");
    return Array.isArray(words) ? words.filter((word) => typeof word === "string") : [];
  } catch {
    return [];
  }
}
