import type SmtpConnection from "nodemailer/lib/smtp-connection";

/** The private members of nodemailer's connection that are used here. */
interface Reader {
  _processResponse(): unknown;
  _onError(...report: readonly [error: Error, type: string, reply: string | false, command: string]): void;
  readonly _responseQueue: readonly string[];
}

/**
 * Closes the connection at a reply that does not tell what the server has done: its lines have codes of different kinds, such as
 * `250-` and then `554` (RFC 5321 §4.2.1 wants one code in all lines), or it has no code of three digits (§4.2). The library goes
 * by the first digit of the first line, so that `2 messages were refused` would be a yes.
 */
export function refuseDoubtful(connection: SmtpConnection): void {
  const reader = connection as unknown as Reader;
  const act = reader._processResponse.bind(connection);
  reader._processResponse = () => {
    const fault = faultOf(reader._responseQueue[0] ?? "");
    return fault === undefined ? act() : reader._onError(new Error(fault), "EPROTOCOL", false, "CONN");
  };
}

function faultOf(reply: string): string | undefined {
  // The library passes over empty lines.
  if (reply.trim() === "") return undefined;
  if (!/^\d{3}(?!\d)/.test(reply)) return "the server's reply has no code of three digits";
  if (!isContradiction(reply)) return undefined;
  // Postscreen greets with `220-` before it refuses a client that is on a list: the last line tells which.
  return `the lines of the server's reply contradict one another, and end with ${reply.slice(reply.lastIndexOf("\n") + 1)}`;
}

function isContradiction(reply: string): boolean {
  // Most replies have one line.
  if (!reply.includes("\n")) return false;
  const kinds = new Set([...reply.matchAll(KIND)].map(([kind]) => kind));
  return kinds.size > 1;
}

/** The first digit of a line's code. */
const KIND = /^\d(?=\d\d(?:[ -]|$))/gm;
