import type SmtpConnection from "nodemailer/lib/smtp-connection";
import type { Clock } from "../../../../core/clock.ts";

/** The private members of nodemailer's connection that are used here. */
interface Reader {
  _onData(chunk: Buffer): void;
  _processResponse(): unknown;
  _onTimeout(): void;
  readonly _responseQueue: readonly string[];
  readonly _socket?: { readonly timeout?: number };
}

/**
 * Gives up on a reply that keeps coming in pieces for longer than a reply is waited for. The socket's own limit begins anew with every
 * piece: a tarpit, which sends an octet a second, or lines that never end the reply, would keep the message and its slot for as long as
 * a message may take. While the socket has no limit, as after the final dot, a reply has none.
 */
export function limitDrips(connection: SmtpConnection, clock: Pick<Clock, "monotonicMs">): void {
  const reader = connection as unknown as Reader;
  const read = reader._onData.bind(connection);
  const act = reader._processResponse.bind(connection);
  let comesSinceMs: number | undefined;
  reader._processResponse = () => {
    // The library passes over empty lines.
    if (reader._responseQueue[0]?.trim()) comesSinceMs = undefined;
    return act();
  };
  reader._onData = (chunk) => {
    const nowMs = clock.monotonicMs();
    comesSinceMs ??= nowMs;
    read(chunk);
    const limitMs = reader._socket?.timeout || Number.POSITIVE_INFINITY;
    if (comesSinceMs !== undefined && nowMs - comesSinceMs > limitMs) reader._onTimeout();
  };
}
