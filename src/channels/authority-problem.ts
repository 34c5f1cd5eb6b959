import { X509Certificate } from "node:crypto";
import { certificatesIn } from "../core/network/certificates.ts";

/**
 * What is wrong with the certificates (PEM) that a connector is to trust, under the name of their field; empty where
 * nothing is. Not left to the runtime: it accepts some texts that hold no certificate, and then trusts no server; of two
 * certificates that share a line it reads neither.
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
