import type SmtpConnection from "nodemailer/lib/smtp-connection";

/** The private member of nodemailer's connection that is used here. */
interface Sender {
  _actionDATA(reply: string, done: unknown): void;
}

/**
 * Sends the message only once the server has asked for it (354, RFC 5321 §3.3). The library takes a 250 for that as well,
 * which is the answer to an earlier command where a server is out of step: what the message says would be read as commands,
 * and their answers as the message's.
 */
export function beginAt354(connection: SmtpConnection): void {
  const sender = connection as unknown as Sender;
  const act = sender._actionDATA.bind(connection);
  sender._actionDATA = (reply, done) => act(reply.startsWith("2") ? `not asked for: ${reply}` : reply, done);
}
