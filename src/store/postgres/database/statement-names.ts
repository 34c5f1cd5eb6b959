import { createHash } from "node:crypto";

/** What a statement is prepared as. */
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
    // Another text too: a pooler prepares one text once, whatever we call it.
    renew: (sql) => void add(sql, `${sql} -- ${++renewals}`),
  };
}
