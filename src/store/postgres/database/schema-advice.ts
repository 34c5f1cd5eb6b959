/** Errors of a database that is not ours alone, in words that say what to do. */
import { DatabaseError } from "pg";

const OWN_DATABASE = "give Postrider a database of its own";

/** By SQLSTATE, what an operator can do if the schema cannot be made. */
const ADVICE: Readonly<Record<string, string>> = {
  "42P07": `it is another program's, or of a restore that was cut off; ${OWN_DATABASE}, or restore again into an empty one`,
  "42501": "GRANT CREATE ON SCHEMA … TO the role of DATABASE_URL, or ALTER TABLE … OWNER TO it",
  "3F000":
    "search_path names no schema that the role may use: GRANT USAGE, CREATE ON SCHEMA … TO it, or ALTER ROLE … RESET search_path",
};

/** What an operator can do if the table `migrations` cannot be read: other programs have one too, with columns of their own. */
export const DONE_ADVICE: Readonly<Record<string, string>> = {
  ...ADVICE,
  "42703": `the table migrations is another program's; ${OWN_DATABASE}`,
};

/** The error with what to do about it, if that is known, else as it is. */
export function withAdvice(error: unknown, advice = ADVICE): unknown {
  const found = error instanceof DatabaseError ? advice[error.code ?? ""] : undefined;
  return found === undefined ? error : new Error(`${(error as Error).message}: ${found}`, { cause: error });
}
