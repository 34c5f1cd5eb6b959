import type SmtpConnection from "nodemailer/lib/smtp-connection";

/** The private member of nodemailer's connection that is used here. */
interface Answerer {
  _actionAUTH_CRAM_MD5(reply: string, done: unknown): void;
}

/**
 * Makes one blank of each run of them in a challenge, before the library reads it: for 60,000 blanks its pattern takes
 * seconds, in which nothing else goes on. A challenge has one blank (RFC 4954 §4).
 */
export function joinBlanksOfChallenge(connection: SmtpConnection): void {
  const answerer = connection as unknown as Answerer;
  const answer = answerer._actionAUTH_CRAM_MD5.bind(connection);
  answerer._actionAUTH_CRAM_MD5 = (reply, done) => answer(reply.trim().replace(/\s+/g, " "), done);
}
