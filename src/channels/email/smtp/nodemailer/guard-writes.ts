import type SmtpConnection from "nodemailer/lib/smtp-connection";

/**
 * Asks `mayWrite` before everything that goes to the server, be it a command, a piece of the message or its final dot, until
 * the returned function is called. Where it says no, nothing is written, and `onRefused` is called.
 */
export function guardWrites(
  { _socket: socket }: SmtpConnection,
  { mayWrite, onRefused }: { readonly mayWrite: () => boolean; readonly onRefused: () => void },
): () => void {
  if (!socket) return () => {};
  const { write } = socket;
  socket.write = (...args: unknown[]) => {
    if (mayWrite()) return Reflect.apply(write, socket, args);
    onRefused();
    return false;
  };
  return () => {
    socket.write = write;
  };
}
