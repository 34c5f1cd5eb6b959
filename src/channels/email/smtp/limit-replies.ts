import type SmtpConnection from "nodemailer/lib/smtp-connection";

/** Replies that may have come and not been looked at: an envelope of fifty, sent in one go, has fifty-two. */
const MAX_WAITING = 1_000;

/** What the library keeps to itself, as far as it is needed here. */
interface Reader {
  _onData(chunk: Buffer): void;
  _onResponseTooLarge(): void;
  readonly _responseQueue: readonly string[];
}

/**
 * Ends the connection with a server that says more than anybody reads. The library bounds a reply and not how many wait:
 * empty lines are no replies, are taken out one a turn of the loop, and come by the hundred thousand.
 */
export function limitReplies(connection: SmtpConnection): void {
  const reader = connection as unknown as Reader;
  const read = reader._onData.bind(reader);
  reader._onData = (chunk) => {
    read(chunk);
    if (reader._responseQueue.length > MAX_WAITING) reader._onResponseTooLarge();
  };
}
