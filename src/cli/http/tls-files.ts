/** What the files hold that `TLS_CERT` and `TLS_KEY` name. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { errorText } from "../../core/error-text.ts";
import { toIso } from "../../core/time/timestamp.ts";

/** What a server shows, in PEM: its certificate, with those between it and an authority, and the key. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
}

export function isSameTls(one: Tls, other: Tls | undefined): boolean {
  return one.cert === other?.cert && one.key === other.key;
}

/** The paths of both. */
export type TlsFiles = { readonly [name in keyof Tls]: string };

/** Editors put it before a text. A block after it is not recognised as one: of a chain the server's own certificate is missed. */
const BYTE_ORDER_MARK = "\uFEFF";

/** The PEM text of a file. */
function pemOf(octets: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(octets).replaceAll(BYTE_ORDER_MARK, "");
}

/**
 * Reads them at the start, and reports every problem. Without `tlsFiles`, newer ones cannot be read there: a pipe gives what it has
 * only once.
 *
 * @param certFile `TLS_CERT`
 * @param keyFile `TLS_KEY`
 */
export function readTls(
  certFile: string | undefined,
  keyFile: string | undefined,
  report: (problem: string) => void,
): { readonly tls?: Tls; readonly tlsFiles?: TlsFiles } {
  if (!certFile && !keyFile) return {};
  if (!certFile || !keyFile) {
    report("TLS_CERT and TLS_KEY: set both to the paths of PEM files, or neither");
    return {};
  }
  const cert = readPemAtStart("TLS_CERT", certFile, report);
  const key = readPemAtStart("TLS_KEY", keyFile, report);
  if (cert === undefined || key === undefined) return {};
  const areFiles = [certFile, keyFile].every((path) => statSync(path).isFile());
  return { tls: { cert, key }, ...(areFiles && { tlsFiles: { cert: certFile, key: keyFile } }) };
}

/** Recognises PEM in place of a path, as it is or in base64 once more. No path has line ends either. */
const PEM = /-----BEGIN |^LS0tLS1CRUdJTi|\n./;

function readPemAtStart(name: string, path: string, report: (problem: string) => void): string | undefined {
  if (PEM.test(path)) {
    report(`${name}: contains a certificate or a key: set it to the path of a file that holds it`);
    return undefined;
  }
  try {
    const text = pemOf(readFileSync(path));
    if (text.includes("-----BEGIN ")) return text;
    report(`${name}: ${path} holds no PEM block`);
  } catch (error) {
    report(`${name}: ${path} cannot be read (${errorText(error)})`);
  }
  return undefined;
}

/** What the files hold now. */
export async function readTlsFiles({ cert, key }: TlsFiles): Promise<Tls | { readonly problem: string }> {
  try {
    return { cert: await readPem(cert), key: await readPem(key) };
  } catch (error) {
    return { problem: `TLS_CERT and TLS_KEY cannot be read (${errorText(error)})` };
  }
}

async function readPem(path: string): Promise<string> {
  // Nobody may ever write to a pipe, and a stop would wait for that.
  if (!(await stat(path)).isFile()) throw new Error(`${path} is no file any more`);
  return pemOf(await readFile(path));
}

/** Why no server can show it, or no client would accept it now; `undefined`: nothing is wrong with it. */
export function tlsProblem(tls: Tls, now: number): string | undefined {
  const validity = validityOf(tls);
  if (!validity) return "TLS_CERT holds no certificate";
  const { beginsAt, endsAt } = validity;
  if (now > endsAt) return `the certificate in TLS_CERT ended at ${toIso(endsAt)}`;
  if (now < beginsAt) return `the certificate in TLS_CERT is valid only from ${toIso(beginsAt)} on`;
  try {
    // Without a key the next would only be a server with no certificate.
    createPrivateKey(tls.key);
    createSecureContext({ cert: tls.cert, key: tls.key });
    return undefined;
  } catch (error) {
    const reason = errorText(error);
    return reason.includes("MISMATCH")
      ? "TLS_KEY is not the key of the certificate in TLS_CERT"
      : `TLS_CERT and TLS_KEY do not make an HTTPS server (${reason})`;
  }
}

/** From when on a certificate is valid, and until when; Unix milliseconds. */
export interface Validity {
  readonly beginsAt: number;
  readonly endsAt: number;
}

/** That of the first certificate, which is the server's own; `undefined` if there is none to be read. */
export function validityOf({ cert }: Tls): Validity | undefined {
  try {
    const { validFrom, validTo } = new X509Certificate(cert);
    return { beginsAt: Date.parse(validFrom), endsAt: Date.parse(validTo) };
  } catch {
    return undefined;
  }
}
