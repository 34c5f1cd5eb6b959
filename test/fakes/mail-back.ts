/** Returns a mail as a server does: speaks SMTP to the bounce listener. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import { createMailKeys, type MailKeys } from "../../src/cli/email/mail-keys.ts";
import { SHARED_SECRET } from "../postrider-process.ts";

export interface MailBack {
  readonly port: number;
  readonly to: string | readonly string[];
  readonly raw: string;
  /** The null sender unless given. */
  readonly from?: string;
}

/** Code and text of the last reply: to the first command that was refused, or to the message. */
export async function mailBack({ port, to, raw, from = "" }: MailBack): Promise<string> {
  const transport = createTransport({ host: "127.0.0.1", port, tls: { rejectUnauthorized: false } });
  try {
    const info = await transport.sendMail({ envelope: { from, to: [to].flat() }, raw });
    return info.response;
  } catch (error) {
    return (error as { response?: string }).response ?? String(error);
  } finally {
    transport.close();
  }
}

/** The keys with which the service on the data folder signs its return paths. */
export function mailKeysOf(dataFolder: string): MailKeys {
  const file = join(dataFolder, "master.key");
  return createMailKeys(existsSync(file) ? readFileSync(file, "utf8").trim() : SHARED_SECRET);
}
