import type SmtpConnection from "nodemailer/lib/smtp-connection";

/**
 * Adds SMTPUTF8 to MAIL FROM until the returned function is called. The library adds it if an address of the envelope
 * needs it, but cannot know that an address in the header does (RFC 6531 §3.4).
 */
export function askForUtf8(connection: SmtpConnection): () => void {
  const writer = connection as unknown as { _sendCommand: (line: string) => void };
  const send = writer._sendCommand.bind(connection);
  writer._sendCommand = (line) => send(line.startsWith("MAIL FROM:") ? `${line} SMTPUTF8` : line);
  return () => void Reflect.deleteProperty(connection, "_sendCommand");
}
