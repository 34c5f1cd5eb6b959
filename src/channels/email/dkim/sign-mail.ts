import { createHash, createPrivateKey, type KeyObject, sign } from "node:crypto";
import { domainToASCII } from "node:url";
import { promisify } from "node:util";
import { octetPieces } from "../mail/mail-body.ts";
import { createRelaxedBody, fieldsOf, type HeaderField, nameOf, signedText } from "./canonical.ts";

export interface DkimKey {
  readonly domain: string;
  readonly selector: string;
  /** RSA or Ed25519; a string is PEM. */
  readonly privateKey: KeyObject | string;
}

/**
 * The message (with CRLF line ends), preceded by a DKIM-Signature for each key (RFC 6376, relaxed/relaxed; for Ed25519
 * RFC 8463). `undefined` if any key cannot sign. The same message and keys give the same octets.
 */
export async function signMail(raw: Buffer, keys: readonly DkimKey[]): Promise<Buffer | undefined> {
  const end = raw.indexOf("\r\n\r\n");
  const fields = fieldsOf(raw.toString("latin1", 0, end));
  const bodyHash = await hashBody(raw.subarray(end + 4));
  try {
    const signatures = await Promise.all(keys.map((key) => signatureField(key, fields, bodyHash)));
    return Buffer.concat([...signatures.map((field) => Buffer.from(`${field}\r\n`, "latin1")), raw]);
  } catch {
    // A key cannot be read, or is of another kind. The caller does not send such a message.
    return undefined;
  }
}

async function hashBody(body: Buffer): Promise<string> {
  const hash = createHash("sha256");
  const relaxed = createRelaxedBody();
  let rest = "";
  for await (const piece of octetPieces(body)) {
    const text = rest + piece.toString("latin1");
    const lastLineEnd = text.lastIndexOf("\r\n");
    const linesEnd = lastLineEnd === -1 ? 0 : lastLineEnd + 2;
    hash.update(relaxed.take(text.slice(0, linesEnd)), "latin1");
    rest = text.slice(linesEnd);
  }
  if (rest !== "") hash.update(relaxed.take(`${rest}\r\n`), "latin1");
  return hash.digest("base64");
}

async function signatureField(
  key: DkimKey,
  fields: readonly HeaderField[],
  bodyHash: string,
): Promise<HeaderField> {
  const privateKey = typeof key.privateKey === "string" ? createPrivateKey(key.privateKey) : key.privateKey;
  const algorithm = ALGORITHMS[privateKey.asymmetricKeyType ?? ""];
  if (!algorithm) throw new Error("a key of this kind does not sign mail");
  const names = namesToSign(fields);
  const unsigned = [
    `DKIM-Signature: v=1; a=${algorithm.name}; c=relaxed/relaxed; q=dns/txt;`,
    ` d=${domainToASCII(key.domain)}; s=${key.selector};`,
    ...foldNames(names),
    ` bh=${bodyHash};`,
    " b=",
  ].join("\r\n");
  const signature = await algorithm.sign(
    Buffer.from(signedText(fields, names, unsigned), "latin1"),
    privateKey,
  );
  return unsigned + (signature.toString("base64").match(/.{1,70}/g) ?? []).join("\r\n  ");
}

/** Signs on the thread pool, since an RSA signature would hold up the event loop for a millisecond. */
const signOnPool = promisify<string | null, Buffer, KeyObject, Buffer>(sign);

const ALGORITHMS: Readonly<
  Record<string, { readonly name: string; readonly sign: (text: Buffer, key: KeyObject) => Promise<Buffer> }>
> = {
  rsa: { name: "rsa-sha256", sign: (text, key) => signOnPool("sha256", text, key) },
  // RFC 8463 §3: what is signed is the hash, by plain Ed25519.
  ed25519: {
    name: "ed25519-sha256",
    sign: (text, key) => signOnPool(null, createHash("sha256").update(text).digest(), key),
  },
};

/** Names each field as often as it occurs, and one that nobody may add another time besides (RFC 6376 §8.15). */
function namesToSign(fields: readonly HeaderField[]): readonly string[] {
  const present = fields.map(nameOf);
  return SIGNED_FIELDS.flatMap((name) => {
    const count = present.filter((each) => each === name.toLowerCase()).length;
    return Array.from({ length: count + (ONLY_ONCE.has(name) ? 1 : 0) }, () => name);
  });
}

const MAX_LINE = 76;

function foldNames(names: readonly string[]): readonly string[] {
  const lines: string[] = [];
  let line = " h=";
  for (const [index, name] of names.entries()) {
    const next = name + (index < names.length - 1 ? ":" : ";");
    if (line.length + next.length > MAX_LINE) {
      lines.push(line);
      line = "  ";
    }
    line += next;
  }
  return [...lines, line];
}

/** Fields that occur once. A second one could be shown in place of the one that was signed. */
const ONLY_ONCE: ReadonlySet<string> = new Set([
  "From",
  "Reply-To",
  "Subject",
  "Date",
  "Message-ID",
  "To",
  "Cc",
  "MIME-Version",
  "Content-Type",
  "Content-Transfer-Encoding",
]);

/** Both fields of one-click unsubscribing must be signed (RFC 8058 §4). */
const SIGNED_FIELDS: readonly string[] = [
  ...ONLY_ONCE,
  "Sender",
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
];
