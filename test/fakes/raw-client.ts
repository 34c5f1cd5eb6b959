/** A client that sends what it wants, octet for octet, and when it wants. */
import { connect, type Socket } from "node:net";

export interface Wire {
  readonly socket: Socket;
  /** Everything that has come back once the other end has closed, or once `pattern` is in it. */
  until(pattern?: RegExp): Promise<string>;
}

export async function dial(port: number): Promise<Wire> {
  const socket = connect(port, "127.0.0.1");
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", () => resolve());
    socket.once("error", reject);
  });
  let text = "";
  let isClosed = false;
  let look = () => {};
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    look();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    isClosed = true;
    look();
  });
  return {
    socket,
    until: (pattern) =>
      new Promise((resolve) => {
        look = () => {
          if (isClosed || pattern?.test(text)) resolve(text);
        };
        look();
      }),
  };
}
