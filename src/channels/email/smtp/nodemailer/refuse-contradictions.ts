import type SmtpConnection from "nodemailer/lib/smtp-connection";

/** The private members of nodemailer's connection that are used here. */
interface Reader {
  _processResponse(): unknown;
  _onError(...report: readonly [error: Error, type: string, reply: string | false, command: string]): void;
  readonly _responseQueue: readonly string[];
}

/**
 * Closes the connection at a reply whose lines have codes of different kinds, such as `250-` and then `554` (RFC 5321 §4.2.1 wants
 * one code in all lines). The library goes by the first line, others by the last: what the server has done is not known.
 */
export function refuseContradictions(connection: SmtpConnection): void {
  const reader = connection as unknown as Reader;
  const act = reader._processResponse.bind(connection);
  reader._processResponse = () =>
    isContradiction(reader._responseQueue[0] ?? "")
      ? reader._onError(new Error(CONTRADICTION), "EPROTOCOL", false, "CONN")
      : act();
}

const CONTRADICTION = "the lines of the server's reply contradict one another";

function isContradiction(reply: string): boolean {
  // Most replies have one line.
  if (!reply.includes("\n")) return false;
  const kinds = new Set([...reply.matchAll(KIND)].map(([kind]) => kind));
  return kinds.size > 1;
}

/** The first digit of a line's code. */
const KIND = /^\d(?=\d\d(?:[ -]|$))/gm;
