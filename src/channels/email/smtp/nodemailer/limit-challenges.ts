import type SmtpConnection from "nodemailer/lib/smtp-connection";

/** No mechanism asks more than twice for name and password. */
const MAX_CHALLENGES = 10;

/**
 * Calls `onTooMany` when the server goes on asking after it has been told everything. The library answers each further
 * challenge (334) with an empty line, for as long as there is time: tens of thousands in a second.
 */
export function limitChallenges(connection: SmtpConnection, onTooMany: () => void): void {
  const writer = connection as unknown as { _sendCommand: (line: string, logged?: string) => void };
  const send = writer._sendCommand.bind(connection);
  let challenges = 0;
  writer._sendCommand = (line, logged) => {
    if (line === "" && ++challenges > MAX_CHALLENGES) onTooMany();
    else send(line, logged);
  };
}
