import { describe, expect, test } from "bun:test";
import { DLT_SCRUB_CODES, dltScrubError } from "./dlt-scrub-codes.ts";

describe("scrub codes", () => {
  test.each([
    "633",
    "0633",
    " 633 ",
    "DLT-633",
    "dlt_633",
    "Error 633",
    "TEMPLATE_NOT_MATCHED",
    "template-not-matched",
    "Template mismatch",
  ])("%p is dlt.633, with what to do about it", (written) => {
    expect(dltScrubError(written)).toEqual({
      code: "dlt.633",
      message:
        "DLT scrubbing: text does not match the template; import the template again and compare word by word",
    });
  });

  test.each([
    undefined,
    "",
    "000",
    "0",
    "1",
    "034",
    "6330",
    "1633",
    "699",
    "constructor",
    "__proto__",
    "unknown",
  ])("%p is none", (written) => {
    expect(dltScrubError(written)).toBeUndefined();
  });

  test("an operator's own code means what the connector says", () => {
    expect(dltScrubError("5308", { own: { "5308": "634" } })?.code).toBe("dlt.634");
    expect(dltScrubError("600", { own: { "600": "630" } })?.code).toBe("dlt.630");
    expect(dltScrubError("5309", { own: { "5308": "634" } })).toBeUndefined();
  });

  test.each([
    ["+919812345678", true],
    ["919812345678", true],
    ["00919812345678", true],
    ["9812345678", true],
    ["09812345678", true],
    ["91981XXXX678", true],
    ["", true],
    ["ACMECO", true],
    ["+14155550101", false],
    ["14155550101", false],
    ["0049 171 1234567", false],
    ["+9812345678", false],
    ["009812345678", false],
  ])("about %p they count: %p", (to, counts) => {
    expect(dltScrubError("633", { to })?.code).toBe(counts ? "dlt.633" : undefined);
    expect(dltScrubError("633", { to, own: { "633": "633" } })?.code).toBe("dlt.633");
  });

  test("each code stands once, with a reason and a hint", () => {
    expect(new Set(DLT_SCRUB_CODES.map(({ code }) => code)).size).toBe(DLT_SCRUB_CODES.length);
    for (const { reason, hint } of DLT_SCRUB_CODES) expect([reason, hint]).not.toContain("");
  });
});
