import type SmtpConnection from "nodemailer/lib/smtp-connection";

/** The private members of nodemailer's connection that are used here. */
interface Connector {
  _onConnect(): void;
  _connectionDeadline?: number | undefined;
}

/**
 * Gives greeting and TLS the whole of their own limit. The library cuts it short by what is left of the time for connecting, which has
 * to be short, since many addresses drop what is sent to them. A server that looks up who connects may greet only after that, and
 * should be waited for (RFC 5321 §4.5.3.2.1).
 */
export function waitForGreeting(connection: SmtpConnection): void {
  const connector = connection as unknown as Connector;
  const begin = connector._onConnect.bind(connection);
  connector._onConnect = () => {
    connector._connectionDeadline = undefined;
    begin();
  };
}
