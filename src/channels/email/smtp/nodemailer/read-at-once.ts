import type SmtpConnection from "nodemailer/lib/smtp-connection";

/** The private members of nodemailer's connection that are used here. */
interface Reader {
  _onData(chunk: Buffer): void;
  _processResponse(): void;
  /** Recipients whose reply is still to come. */
  readonly _recipientQueue?: readonly string[];
  readonly _responseQueue: readonly string[];
}

/**
 * Processes the replies to RCPT TO as they come. The library processes one per turn of the event loop, and forgets the
 * others if the connection ends meanwhile, as it does where a server answers a pipelined envelope and closes.
 */
export function readAtOnce(connection: SmtpConnection): void {
  const reader = connection as unknown as Reader;
  const read = reader._onData.bind(reader);
  reader._onData = (chunk) => {
    read(chunk);
    let before = Number.POSITIVE_INFINITY;
    while (reader._recipientQueue?.length && isLess(reader, before)) {
      before = reader._responseQueue.length;
      reader._processResponse();
    }
  };
}

/** What stays in the queue is not complete yet. */
function isLess({ _responseQueue: { length } }: Reader, before: number): boolean {
  return length > 0 && length < before;
}
