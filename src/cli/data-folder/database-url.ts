import { errorText } from "../../core/error-text.ts";
import { readHosts } from "../../store/postgres/connections/hosts.ts";
import { CommandFailure } from "../commands/command-failure.ts";
import type { DataTarget } from "../config.ts";

/** The `DATABASE_URL` of a command that works on the database itself. Throws `CommandFailure` if it is no such URL. */
export function databaseUrlOf({ databaseUrl }: DataTarget): string | undefined {
  try {
    if (databaseUrl !== undefined) readHosts(databaseUrl);
  } catch (error) {
    throw new CommandFailure(`DATABASE_URL: ${errorText(error)}`);
  }
  return databaseUrl;
}
