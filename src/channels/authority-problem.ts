import { X509Certificate } from "node:crypto";

const BEGINNING = /-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/g;
const BLOCKS = /^-----BEGIN ([A-Z0-9 ]*)CERTIFICATE-----[^-]*^-----END \1CERTIFICATE-----\s*$/gm;

/**
 * What is wrong with the certificates that a connector is to trust, under the name of their field; empty where nothing
 * is. The runtime takes some texts that hold none, and then no server is trusted; of two that share a line it takes neither.
 */
export function authorityProblem(field: string, pem: unknown): Readonly<Record<string, string>> {
  if (typeof pem !== "string") return {};
  const blocks = pem.match(BLOCKS) ?? [];
  const isWhole = blocks.length > 0 && blocks.length === pem.match(BEGINNING)?.length;
  if (isWhole && blocks.every(isCertificate)) return {};
  return { [field]: "must be one or more certificates (PEM), with their line ends" };
}

function isCertificate(block: string): boolean {
  try {
    return new X509Certificate(block).subject !== undefined;
  } catch {
    return false;
  }
}
