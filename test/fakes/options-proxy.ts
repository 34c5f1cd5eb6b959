/** A TCP proxy in front of a PostgreSQL of the test run that has sessions begin with other `options` than they were given. */
import { type AddressInfo, createConnection, createServer } from "node:net";

export interface OptionsProxy {
  /** The database's URL through the proxy. */
  readonly url: string;
  close(): void;
}

/** @param url of a server that listens on a socket of the file system */
export async function openOptionsProxy(url: string, options: string): Promise<OptionsProxy> {
  const [, user = "", folder = "", name = ""] = /^postgres:\/\/([^@]*)@([^/]*)\/(.*)$/.exec(url) ?? [];
  const server = createServer((near) => {
    const far = createConnection(`${decodeURIComponent(folder)}/.s.PGSQL.5432`);
    near.once("data", (startup) => {
      far.write(withOptions(startup as Buffer, options));
      near.pipe(far).pipe(near);
    });
    for (const socket of [near, far]) socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `postgres://${user}@127.0.0.1:${port}/${name}`, close: () => void server.close() };
}

/** The startup message: its length, the protocol, names and values, and a zero. Of a name that is there twice the second counts. */
function withOptions(startup: Buffer, options: string): Buffer {
  const longer = Buffer.concat([startup.subarray(0, -1), Buffer.from(`options\0${options}\0\0`)]);
  longer.writeInt32BE(longer.length);
  return longer;
}
