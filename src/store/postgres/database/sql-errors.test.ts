import { expect, test } from "bun:test";
import { DatabaseError } from "pg";
import { isDamage, isOutage } from "./sql-errors.ts";

/** As the server sends it. */
function errorOf(fields: { readonly code: string; readonly routine: string }): DatabaseError {
  return Object.assign(new DatabaseError("no", 0, "error"), fields);
}

test("a server that guards against the wraparound of its ids is away, whatever statement it refuses for that", () => {
  for (const routine of ["GetNewTransactionId", "GetNewMultiXactId"])
    expect(isOutage(errorOf({ code: "54000", routine }))).toBe(true);
});

test("a value that is too large for an index is not the server's fault", () => {
  expect(isOutage(errorOf({ code: "54000", routine: "_bt_check_third_page" }))).toBe(false);
});

test("a damaged page, row or index is told from an outage and from a bug", () => {
  for (const code of ["XX001", "XX002"]) {
    const error = errorOf({ code, routine: "PageIsVerified" });
    expect([isDamage(error), isOutage(error)]).toEqual([true, false]);
  }
  expect(isDamage(errorOf({ code: "XX000", routine: "elog" }))).toBe(false);
});

test("a file that cannot be read, or is gone, is damage; any other error of the system, as poolers have them, is an outage", () => {
  for (const code of ["58030", "58P01"]) expect(isDamage(errorOf({ code, routine: "mdreadv" }))).toBe(true);
  const ofPooler = errorOf({ code: "58000", routine: "" });
  expect([isDamage(ofPooler), isOutage(ofPooler)]).toEqual([false, true]);
});
