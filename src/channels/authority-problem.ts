import { X509Certificate } from "node:crypto";
import { certificatesIn } from "../core/network/certificates.ts";

/**
 * What is wrong with the certificates (PEM) that a connector should trust, under the name of their field; empty if nothing is.
 * This is not left to the runtime: it accepts some texts without any certificate, and then trusts no server; and if two
 * certificates share a line, it reads neither.
 */
export function authorityProblem(field: string, pem: unknown): Readonly<Record<string, string>> {
  if (typeof pem !== "string") return {};
  const certificates = certificatesIn(pem);
  if (certificates.length > 0 && certificates.every(isReadable)) return {};
  return { [field]: "must be one or more certificates (PEM), with their line ends" };
}

function isReadable(certificate: string): boolean {
  try {
    return new X509Certificate(certificate).subject !== undefined;
  } catch {
    return false;
  }
}
