import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { SmsContent } from "../messages/message.ts";
import { earliestSendAt, nextOpening } from "./promotional-hours.ts";

const HOURS = "10:00-21:00";
const at = (iso: string) => Date.parse(iso);

describe("promotional hours", () => {
  test.each([
    ["just before the opening", "2026-01-15T09:59:59.999+05:30", "2026-01-15T10:00:00+05:30"],
    ["at the opening", "2026-01-15T10:00:00+05:30", "2026-01-15T10:00:00+05:30"],
    ["half an hour later", "2026-01-15T10:30:00+05:30", "2026-01-15T10:30:00+05:30"],
    ["in the last moment", "2026-01-15T20:59:59.999+05:30", "2026-01-15T20:59:59.999+05:30"],
    ["at the end", "2026-01-15T21:00:00+05:30", "2026-01-16T10:00:00+05:30"],
    ["after midnight", "2026-03-01T00:10:00+05:30", "2026-03-01T10:00:00+05:30"],
    ["on the last day of a year", "2026-12-31T23:59:00+05:30", "2027-01-01T10:00:00+05:30"],
    ["when UTC has another day", "2026-01-15T04:00:00+05:30", "2026-01-15T10:00:00+05:30"],
  ])("%s", (_, due, opens) => {
    expect(nextOpening(HOURS, at(due))).toBe(at(opens));
  });

  test("what is returned is within the hours by Kolkata's own clock, and never earlier", () => {
    const clock = new Intl.DateTimeFormat("en-GB", { timeZone: "Asia/Kolkata", timeStyle: "short" });
    const times = fc.integer({ min: at("2020-01-01T00:00Z"), max: at("2040-01-01T00:00Z") });
    fc.assert(
      fc.property(times, (due) => {
        const opens = nextOpening(HOURS, due);
        expect(opens).toBeGreaterThanOrEqual(due);
        expect(opens - due).toBeLessThanOrEqual(13 * 3_600_000);
        const time = clock.format(opens);
        expect(time >= "10:00" && time < "21:00").toBe(true);
      }),
    );
  });

  test("other hours hold, all day long among them", () => {
    expect(nextOpening("09:30-18:00", at("2026-01-15T18:00+05:30"))).toBe(at("2026-01-16T09:30+05:30"));
    const night = at("2026-01-15T23:59:59+05:30");
    expect(nextOpening("00:00-24:00", night)).toBe(night);
  });

  test("hold for promotional messages of live accounts to Indian numbers, and for nothing else", () => {
    const night = at("2026-01-15T22:00+05:30");
    const content: SmsContent = { channel: "sms", category: "promotional" };
    const promotion = { accountMode: "live", settings: {}, content } as const;
    const indian = "+919876543210";
    expect(earliestSendAt(promotion, indian, night)).toBe(at("2026-01-16T10:00+05:30"));
    expect(earliestSendAt(promotion, "+14155550123", night)).toBe(night);
    expect(earliestSendAt({ ...promotion, accountMode: "sandbox" }, indian, night)).toBe(night);
    const explicit = { ...content, category: "service_explicit" } as const;
    expect(earliestSendAt({ ...promotion, content: explicit }, indian, night)).toBe(night);
    const settings = { dlt_promotional_hours: "00:00-24:00" };
    expect(earliestSendAt({ ...promotion, settings }, indian, night)).toBe(night);
  });
});
