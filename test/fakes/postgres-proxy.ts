/** A way to a PostgreSQL of the test run over TCP, which can be late, be silent, and go away. */
import { createConnection, createServer, type Socket } from "node:net";

export interface PostgresProxy {
  /** The database's URL by this way. */
  readonly url: string;
  /** Nothing comes through any more, and nothing says so. */
  silence(): void;
  /** What was held back comes through, and all that follows. */
  speak(): void;
  /** Cuts all connections, and refuses further ones. */
  close(): Promise<void>;
}

/** @param url of a server that listens on a socket of the file system; @param port 0: any free one */
export async function openPostgresProxy(url: string, port = 0): Promise<PostgresProxy> {
  const [, user = "", folder = "", name = ""] = /^postgres:\/\/([^@]*)@([^/]*)\/(.*)$/.exec(url) ?? [];
  const path = `${decodeURIComponent(folder)}/.s.PGSQL.5432`;
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server = createServer((near) => {
    const far = createConnection(path);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("data", (data) => void other.write(data));
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
    silence() {
      isSilent = true;
      for (const socket of sockets) socket.pause();
    },
    speak() {
      isSilent = false;
      for (const socket of sockets) socket.resume();
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
