/** A TCP proxy in front of a PostgreSQL of the test run that offers TLS, with a certificate of an authority that nobody knows. */
import { type AddressInfo, createConnection, createServer, type Server } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { testTls } from "./test-tls.ts";

export interface PostgresTls {
  /** The database's URL through the proxy, without `sslmode`. */
  readonly url: string;
  close(): void;
}

/** @param url of a server that listens on a socket of the file system */
export async function openPostgresTls(url: string): Promise<PostgresTls> {
  const [, user = "", folder = "", name = ""] = /^postgres:\/\/([^@]*)@([^/]*)\/(.*)$/.exec(url) ?? [];
  const inner = createTlsServer({ key: testTls.key, cert: testTls.cert }, (near) => {
    const far = createConnection(`${decodeURIComponent(folder)}/.s.PGSQL.5432`);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on("error", () => undefined);
  });
  inner.on("tlsClientError", () => undefined);
  const innerPort = await portOf(inner);
  const outer = createServer((near) => {
    // The first packet asks whether there is TLS.
    near.once("data", () => {
      near.write("S");
      const far = createConnection(innerPort, "127.0.0.1");
      near.pipe(far).pipe(near);
      far.on("error", () => undefined);
    });
    near.on("error", () => undefined);
  });
  const port = await portOf(outer);
  const close = () => {
    for (const server of [inner, outer]) server.close();
  };
  return { url: `postgres://${user}@127.0.0.1:${port}/${name}`, close };
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}
