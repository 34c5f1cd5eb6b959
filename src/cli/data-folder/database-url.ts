import { errorText } from "../../core/error-text.ts";
import { readHosts } from "../../store/postgres/connections/hosts.ts";
import { AdminFailure } from "../admin/admin-client.ts";
import type { DataTarget } from "../config.ts";

/** The `DATABASE_URL` of a command that works on the database itself. Throws `AdminFailure` if it is no such URL. */
export function databaseUrlOf({ databaseUrl }: DataTarget): string | undefined {
  try {
    if (databaseUrl !== undefined) readHosts(databaseUrl);
  } catch (error) {
    throw new AdminFailure(`DATABASE_URL: ${errorText(error)}`);
  }
  return databaseUrl;
}
