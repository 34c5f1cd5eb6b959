/** The configuration of Debian's Kannel, with a bearerbox that binds to an SMSC of ours, and one account. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "./ports.ts";

export interface KannelPorts {
  /** Of bearerbox, for the other boxes. */
  readonly box: number;
  /** Of sendsms, or of opensmppbox. */
  readonly send: number;
}

/** Its name for the SMSC. */
export const KANNEL_SMSC = "far";

/** The account, as sendsms is told it. */
export const KANNEL_LOGIN = "username=postrider&password=secret";

/** Further lines of each group. */
export interface KannelLines {
  readonly core?: string;
  readonly smsc: string;
  readonly smsbox: string;
  readonly user: string;
}

/** Writes it to a new folder. */
export async function writeKannelConfig(
  smscPort: number,
  { core = "", smsc, smsbox, user }: KannelLines,
): Promise<{ readonly folder: string; readonly ports: KannelPorts; readonly config: string }> {
  const folder = mkdtempSync(join(tmpdir(), "kannel-"));
  const config = join(folder, "kannel.conf");
  const [admin = 0, box = 0, send = 0] = await freePorts(3);
  const text = `
group = core
admin-port = ${admin}
admin-password = bench
smsbox-port = ${box}
dlr-storage = internal
${core}

group = smsc
smsc = smpp
smsc-id = ${KANNEL_SMSC}
host = 127.0.0.1
port = ${smscPort}
transceiver-mode = true
smsc-username = bench
smsc-password = bench
system-type = bench
interface-version = 34
${smsc}

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = ${send}
${smsbox}

group = sendsms-user
username = postrider
password = secret
concatenation = true
${user}
`;
  writeFileSync(config, text);
  return { folder, ports: { box, send }, config };
}
