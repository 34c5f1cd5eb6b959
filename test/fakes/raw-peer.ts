/** A TCP or TLS server on 127.0.0.1 that sends exactly the octets it is given. */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { hooksTls } from "./hooks-tls.ts";

export interface RawPeer {
  readonly port: number;
  /** Resolves once the other side has closed every connection. */
  stop(): Promise<void>;
}

/** `overTls`: with the certificate of `hooks.test`. */
export async function startRawPeer(
  speak: (socket: Socket) => void,
  { overTls = false, host = "127.0.0.1", port = 0 } = {},
): Promise<RawPeer> {
  const hear = (socket: Socket) => {
    socket.on("error", () => {});
    socket.resume();
    speak(socket);
  };
  const server = overTls ? createTlsServer(hooksTls, hear) : createServer(hear);
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}
