import type * as net from "node:net";
import type { Clock } from "../../../../core/clock.ts";

/** How long what the peer has sent is waited for. It is in this machine already, or never comes. */
const READ_LIMIT_MS = 1_000;

/**
 * Lets a write to a peer that has closed its connection fail only once what that sent before is read. The runtime does so over TLS. In
 * the clear it closes the socket at once instead, with the answers that are still in it.
 */
export function failAfterReading(socket: net.Socket, clock: Clock): void {
  const write = socket._write.bind(socket);
  socket._write = (chunk, encoding, done) =>
    write(chunk, encoding, (error) => {
      if (!error || socket.destroyed || socket.readableEnded) return done(error);
      const fail = () => {
        cancel();
        done(error);
      };
      const cancel = clock.after(READ_LIMIT_MS, fail);
      socket.once("end", fail);
      socket.once("close", cancel);
    });
}
