import { Readable } from "node:stream";
import Dkim from "nodemailer/lib/dkim";
import { octetPieces } from "./mail-body.ts";

export interface DkimKey {
  readonly domain: string;
  readonly selector: string;
  /** PEM. */
  readonly privateKey: string;
}

/** Puts a DKIM-Signature (RFC 6376, rsa-sha256, relaxed/relaxed) before the message; `undefined` if the key does not sign. */
export async function signMail(raw: Buffer, key: DkimKey): Promise<Buffer | undefined> {
  const signer = new Dkim({
    domainName: key.domain,
    keySelector: key.selector,
    privateKey: key.privateKey,
    headerFieldNames: SIGNED_FIELDS,
  });
  const pieces: Buffer[] = [];
  for await (const piece of signer.sign(Readable.from(octetPieces(raw)))) pieces.push(piece as Buffer);
  const signed = Buffer.concat(pieces);
  // The signer lets a message through unsigned when its key is of no use.
  return signed.subarray(0, SIGNATURE_NAME.length).toString("latin1") === SIGNATURE_NAME ? signed : undefined;
}

const SIGNATURE_NAME = "DKIM-Signature:";

/** One-click unsubscribing counts only with both of its fields signed (RFC 8058 §4). */
const SIGNED_FIELDS = [
  "From",
  "Sender",
  "Reply-To",
  "Subject",
  "Date",
  "Message-ID",
  "To",
  "Cc",
  "MIME-Version",
  "Content-Type",
  "Content-Transfer-Encoding",
  "In-Reply-To",
  "References",
  "List-Id",
  "List-Help",
  "List-Unsubscribe",
  "List-Unsubscribe-Post",
  "List-Subscribe",
  "List-Post",
  "List-Owner",
  "List-Archive",
].join(":");
