/** What an operator can do where a start finds no database that it can use. */
import { DatabaseError } from "pg";
import { errorText } from "../../../core/error-text.ts";
import { isReadOnlyServer, READ_ONLY } from "../database/sql-errors.ts";

/** The error's words, and what to do about it, if that is known. */
export function advised(error: unknown, url: string): string {
  const advice = adviceOn(error, url);
  return advice === undefined ? errorText(error) : `${errorText(error)}: ${advice}`;
}

function adviceOn(error: unknown, url: string): string | undefined {
  if (isReadOnlyServer(error)) return READ_ONLY;
  if (isOfUnknownAuthority(error)) return `with ${OVER_TLS} the authority in that file is trusted`;
  const mayLackTls = error instanceof DatabaseError && isRefusedByHost(error) && !url.includes("sslmode=");
  return mayLackTls ? `a server that demands TLS is reached with ${OVER_TLS}` : undefined;
}

const OVER_TLS = "?sslmode=verify-full&sslrootcert=/path/to/ca.pem in DATABASE_URL";

/** The file's name is the same in every language, in which the server says whether it was about TLS. */
function isRefusedByHost({ code, message }: DatabaseError): boolean {
  return code === "28000" && message.includes("pg_hba.conf");
}

/** The names that OpenSSL has for it. */
function isOfUnknownAuthority(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^(UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)|(DEPTH_ZERO_)?SELF_SIGNED_CERT)/.test(code);
}
