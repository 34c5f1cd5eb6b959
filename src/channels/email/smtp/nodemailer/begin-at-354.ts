import type SmtpConnection from "nodemailer/lib/smtp-connection";

/** The private members of nodemailer's connection that are used here. */
interface Sender {
  _actionDATA(reply: string, done: (error: Error) => void): void;
  /** With the replies to MAIL FROM and RCPT TO so far; it is the envelope that was given to `send`. */
  readonly _envelope: object;
}

/**
 * Sends the message only once the server has asked for it (354, RFC 5321 §3.3). The library takes a 250 for that too, but if a
 * server is out of step, that is the answer to an earlier command: it would read the message as commands, and its answers to
 * those would be taken for the message's. Then the replies to MAIL FROM and RCPT TO belong to other commands, and are forgotten.
 */
export function beginAt354(connection: SmtpConnection): void {
  const sender = connection as unknown as Sender;
  const act = sender._actionDATA.bind(connection);
  sender._actionDATA = (reply, done) => {
    if (!reply.startsWith("2")) return act(reply, done);
    Object.assign(sender._envelope, { accepted: [], rejectedErrors: [], mailError: undefined });
    done(new Error("the server's answers are out of step with the commands"));
  };
}
