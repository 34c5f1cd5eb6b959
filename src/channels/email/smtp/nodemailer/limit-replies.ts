import type SmtpConnection from "nodemailer/lib/smtp-connection";

/** Replies that may be received and not processed yet; a pipelined envelope of fifty recipients has fifty-two. */
const MAX_WAITING = 1_000;

/** The private members of nodemailer's connection that are used here. */
interface Reader {
  _onData(chunk: Buffer): void;
  _onResponseTooLarge(): void;
  readonly _responseQueue: readonly string[];
}

/**
 * Closes the connection when the server sends replies faster than they are processed. The library limits the size of a
 * reply but not how many are queued: it drops empty lines one per turn of the event loop, and a server can send them by
 * the hundred thousand.
 */
export function limitReplies(connection: SmtpConnection): void {
  const reader = connection as unknown as Reader;
  const read = reader._onData.bind(reader);
  reader._onData = (chunk) => {
    read(chunk);
    if (reader._responseQueue.length > MAX_WAITING) reader._onResponseTooLarge();
  };
}
