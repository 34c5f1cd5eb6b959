/**
 * An SMTP server in a process of its own that keeps nothing and says of every message whose it was and when it was in:
 * `bun bench/seen-sink.ts` prints its port, then `recipient time` (Unix ms) a line.
 */
export {};

interface Peer {
  rest: string;
  to: string;
  isData: boolean;
}

const END = "\r\n.\r\n";

const server = Bun.listen<Peer>({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    open(socket) {
      socket.data = { rest: "", to: "", isData: false };
      socket.write("220 sink\r\n");
    },
    data(socket, chunk) {
      const peer = socket.data;
      peer.rest += chunk.toString("latin1");
      if (peer.isData) {
        if (!peer.rest.endsWith(END)) {
          peer.rest = peer.rest.slice(-END.length);
          return;
        }
        console.log(`${peer.to} ${performance.timeOrigin + performance.now()}`);
        Object.assign(peer, { rest: "", isData: false });
        socket.write("250 taken\r\n");
        return;
      }
      for (let end = peer.rest.indexOf("\r\n"); end >= 0; end = peer.rest.indexOf("\r\n")) {
        const line = peer.rest.slice(0, end);
        peer.rest = peer.rest.slice(end + 2);
        socket.write(answer(peer, line));
      }
    },
  },
});
console.log(`port ${server.port}`);

function answer(peer: Peer, line: string): string {
  peer.to = /^RCPT TO:<([^>]*)>/i.exec(line)?.[1] ?? peer.to;
  peer.isData = /^DATA$/i.test(line);
  return peer.isData ? "354 go on\r\n" : "250 yes\r\n";
}
