import type SmtpConnection from "nodemailer/lib/smtp-connection";

/** The private members of nodemailer's connection that are used here. */
interface Reader {
  _parseEhloExtensions(reply: string): void;
  _supportedExtensions: readonly string[];
}

/**
 * Returns a function that tells which extensions the server has listed (in capitals). Also where it then refused STARTTLS, so that its
 * last reply is another. The library finds their names anywhere in the reply to EHLO: it would ask `dsn.example.net` for reports.
 */
export function knowExtensions(connection: SmtpConnection): () => ReadonlySet<string> {
  const reader = connection as unknown as Reader;
  const parse = reader._parseEhloExtensions.bind(connection);
  let listed: ReadonlySet<string> = new Set();
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
