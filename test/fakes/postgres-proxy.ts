/** A TCP proxy in front of a PostgreSQL of the test run, which can delay, go silent and refuse connections. */
import { createConnection, createServer, type Socket } from "node:net";

export interface PostgresProxy {
  /** The database's URL through the proxy. */
  readonly url: string;
  /** Lets nothing through any more, without closing connections. */
  silence(): void;
  /** Goes silent behind the next statement that has these words; resolves when it has. */
  silenceAfter(words: string): Promise<void>;
  /** Lets through what was held back, and all that follows. */
  speak(): void;
  /** Loses the next COMMIT, or its answer, together with its connection; resolves when that has happened. */
  loseNext(what: "COMMIT" | "answer to COMMIT"): Promise<void>;
  /** Statements the server has answered. */
  answered(): number;
  /** Times that the other side has sent something, each behind an answer: what it sends without waiting counts once. */
  roundTrips(): number;
  /** Cuts all connections, and refuses further ones. */
  close(): Promise<void>;
}

/** @param url of a server that listens on a socket of the file system; @param port 0: any free one */
export async function openPostgresProxy(url: string, port = 0): Promise<PostgresProxy> {
  const [, user = "", folder = "", name = ""] = /^postgres:\/\/([^@]*)@([^/]*)\/(.*)$/.exec(url) ?? [];
  const path = `${decodeURIComponent(folder)}/.s.PGSQL.5432`;
  const sockets = new Set<Socket>();
  let isSilent = false;
  let loss: Loss | undefined;
  let last: { readonly words: string; readonly happened: () => void } | undefined;
  let answers = 0;
  let turns = 0;
  let speaker: "near" | "far" = "far";
  /** The answer to it is to be lost. */
  const committing = new WeakSet<Socket>();
  const isLost = (one: Socket, other: Socket, data: Buffer | string): boolean => {
    const isCommit = data.includes("COMMIT\0");
    if (committing.has(other)) return isCommit;
    if (!loss || !isCommit) return false;
    const { what, happened } = loss;
    loss = undefined;
    if (what === "answer to COMMIT") committing.add(one);
    one.on("close", happened);
    return what === "COMMIT";
  };
  const silence = () => {
    isSilent = true;
    for (const socket of sockets) socket.pause();
  };
  const server = createServer((near) => {
    const far = createConnection(path);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("data", (data) => {
        if (one === far) answers += count(data, READY_FOR_QUERY);
        if (one === near && speaker === "far") turns++;
        speaker = one === far ? "far" : "near";
        if (isLost(one, other, data)) one.destroy();
        else other.write(data);
        if (last && data.includes(last.words)) {
          silence();
          last.happened();
          last = undefined;
        }
      });
      one.on("error", () => undefined);
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      if (isSilent) one.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const bound = (server.address() as { port: number }).port;
  return {
    url: `postgres://${user}@127.0.0.1:${bound}/${name}`,
    silence,
    silenceAfter: (words) =>
      new Promise((happened) => {
        last = { words, happened };
      }),
    speak() {
      isSilent = false;
      for (const socket of sockets) socket.resume();
    },
    loseNext: (what) =>
      new Promise((happened) => {
        loss = { what, happened };
      }),
    answered: () => answers,
    roundTrips: () => turns,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

interface Loss {
  readonly what: "COMMIT" | "answer to COMMIT";
  readonly happened: () => void;
}

/** ReadyForQuery, which ends every answer, without its last octet. It is short, and comes in one piece with what it ends. */
const READY_FOR_QUERY = "Z\0\0\0\u0005";

function count(data: Buffer | string, part: string): number {
  return data.toString("latin1").split(part).length - 1;
}
