import type SmtpConnection from "nodemailer/lib/smtp-connection";

/** The private members of nodemailer's connection that are used here. */
interface Reader {
  _actionEHLO(reply: string): void;
  _parseEhloExtensions(reply: string): void;
  _supportedExtensions: readonly string[];
}

/**
 * Returns a function that tells which extensions the server has listed last (in capitals). Also where STARTTLS has come to nothing since:
 * the library does not read the reply to the EHLO before it, unless it goes on in the clear. It finds their names anywhere in that
 * reply: it would ask `dsn.example.net` for reports.
 */
export function knowExtensions(connection: SmtpConnection): () => ReadonlySet<string> {
  const reader = connection as unknown as Reader;
  const answer = reader._actionEHLO.bind(connection);
  const parse = reader._parseEhloExtensions.bind(connection);
  let listed: ReadonlySet<string> = new Set();
  reader._actionEHLO = (reply) => {
    listed = extensionsIn(reply);
    answer(reply);
  };
  reader._parseEhloExtensions = (reply) => {
    parse(reply);
    listed = extensionsIn(reply);
    reader._supportedExtensions = reader._supportedExtensions.filter((name) => listed.has(name));
  };
  return () => listed;
}

/** The first word of each line but the first, which has the server's name (RFC 5321 §4.1.1.1). */
function extensionsIn(reply: string): ReadonlySet<string> {
  const lines = reply.split(/\r?\n/).slice(1);
  return new Set(lines.map((line) => /^\d{3}[ -]([A-Za-z0-9-]+)/.exec(line)?.[1]?.toUpperCase() ?? ""));
}
