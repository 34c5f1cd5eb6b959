import { createHash } from "node:crypto";

/** A statement as it is prepared. */
export interface Named {
  readonly name: string;
  readonly text: string;
}

export interface StatementNames {
  of(sql: string): Named;
  /** Lets the statement be prepared again, on every connection. */
  renew(sql: string): void;
}

const NAME_LENGTH = 16;

/**
 * Names statements by their text. A text has the same name on all connections, those of other processes included, and no other
 * text has it: if a pooler mixes up sessions, a name must not lead to the wrong statement.
 */
export function createStatementNames(): StatementNames {
  const names = new Map<string, Named>();
  let renewals = 0;
  const add = (sql: string, text: string) => {
    const named = { name: createHash("sha256").update(text).digest("hex").slice(0, NAME_LENGTH), text };
    names.set(sql, named);
    return named;
  };
  return {
    of: (sql) => names.get(sql) ?? add(sql, sql),
    // The text changes too, since a pooler prepares a text only once, whatever name we give it.
    renew: (sql) => void add(sql, `${sql} -- ${++renewals}`),
  };
}
