import { expect, test } from "bun:test";
import { attemptDetail } from "./attempt-entry.ts";
import type { PartOutcome } from "./outcome.ts";

const error = { code: "smtp.connection_lost", message: "the connection was lost" };
const [unconfirmed, deferred]: readonly PartOutcome[] = [
  { kind: "unconfirmed", error },
  { kind: "deferred", error },
];

const detailOf = (...outcomes: readonly (PartOutcome | undefined)[]) =>
  attemptDetail({ channel: "email" }, tried(outcomes));

const tried = (outcomes: readonly (PartOutcome | undefined)[]) =>
  ({ at: 0, connectorId: "c1", outcomes, next: { kind: "again" } }) as const;

test("an entry for several recipients of an email counts their outcomes, and one for a single one says if it may have got the mail", () => {
  expect(detailOf(deferred, unconfirmed, deferred)).toEqual({ connector: "c1", deferred: 2, unconfirmed: 1 });
  expect(detailOf(deferred, undefined, deferred)).toEqual({ connector: "c1", deferred: 2 });
  expect(detailOf(undefined, unconfirmed)).toEqual({ connector: "c1", unconfirmed: 1 });
  expect(detailOf(undefined, deferred)).toEqual({ connector: "c1" });
});

test("an entry for an SMS counts no recipients, however many segments it has", () => {
  expect(attemptDetail({ channel: "sms" }, tried([deferred, unconfirmed]))).toEqual({ connector: "c1" });
});
