import { expect, test } from "bun:test";
import { attemptDetail } from "./attempt-entry.ts";
import type { PartOutcome } from "./outcome.ts";

const error = { code: "smtp.connection_lost", message: "the connection was lost" };
const [unconfirmed, deferred]: readonly PartOutcome[] = [
  { kind: "unconfirmed", error },
  { kind: "deferred", error },
];

const detailOf = (...outcomes: readonly (PartOutcome | undefined)[]) =>
  attemptDetail({ channel: "email" }, { at: 0, connectorId: "c1", outcomes, next: { kind: "again" } });

test("an entry for several recipients of an email counts their outcomes, and one for a single one says if it may have got the mail", () => {
  expect(detailOf(deferred, unconfirmed, deferred)).toEqual({ connector: "c1", deferred: 2, unconfirmed: 1 });
  expect(detailOf(undefined, unconfirmed)).toEqual({ connector: "c1", unconfirmed: 1 });
  expect(detailOf(undefined, deferred)).toEqual({ connector: "c1" });
});
