import { X509Certificate } from "node:crypto";
import { certificatesIn } from "../core/certificates.ts";

/**
 * What is wrong with the certificates that a connector is to trust, under the name of their field; empty where nothing
 * is. The runtime takes some texts that hold none, and then no server is trusted; of two that share a line it takes neither.
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
