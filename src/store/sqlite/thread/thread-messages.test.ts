import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { StoreUnavailable } from "../../store.ts";
import { toError, toFailure } from "./thread-messages.ts";

/** What the caller on the other thread gets for an error. */
function acrossThreads(error: unknown): Error {
  return toError(structuredClone(toFailure(error)));
}

/** The engine's own error for a statement. */
function refusedBy(database: Database, statement: string): unknown {
  try {
    database.run(statement);
  } catch (error) {
    return error;
  }
  throw new Error("it was not refused");
}

test("an outage on the thread is one for the caller, who is told to come again", () => {
  using database = new Database(":memory:");
  database.run("CREATE TABLE t (a)");
  database.run("PRAGMA query_only = 1");
  for (const error of [new StoreUnavailable("disk full"), refusedBy(database, "INSERT INTO t VALUES (1)")]) {
    expect(acrossThreads(error)).toBeInstanceOf(StoreUnavailable);
    expect(acrossThreads(error).message).toBe((error as Error).message);
  }
});

test("a bug on the thread is one for the caller, with the place where it happened", () => {
  using database = new Database(":memory:");
  for (const error of [new TypeError("x is not a function"), refusedBy(database, "SELECT nonsense")]) {
    const arrived = acrossThreads(error);
    expect(arrived).not.toBeInstanceOf(StoreUnavailable);
    expect([arrived.message, arrived.stack]).toEqual([(error as Error).message, (error as Error).stack!]);
  }
  expect(acrossThreads("a text").message).toBe("a text");
});
