import { expect, test } from "bun:test";
import type { CallbackDescription } from "./gateway.ts";
import { readCallback } from "./read-callback.ts";

test.each([
  [undefined, (reports: object[]) => reports],
  ["/e/*", (reports: object[]) => ({ e: reports })],
])("a callback as long as it may be is read to its end, with its reports at %p", (reports, toDocument) => {
  const given = Array.from({ length: 24_000 }, (_, index) => ({ id: `${100_000 + index}`, s: "DELIVRD" }));
  const body = JSON.stringify(toDocument(given));
  expect(body.length).toBeLessThan(1024 * 1024);
  const described = { id: { json: "/id" }, status: [{ json: "/s" }], statuses: { DELIVRD: "delivered" } };
  const reading = readCallback(
    {
      connector: { id: "c-1", secrets: {} },
      provider: "custom",
      description: { ...described, ...(reports && { reports }) } as CallbackDescription,
      dltCodes: {},
      hasOwnIds: false,
    },
    { method: "POST", url: "/", headers: new Headers(), body, receivedAt: 1 },
  );
  expect(reading).toMatchObject({ kind: "receipts", receipts: { length: 24_000 } });
});

const LOST = {
  id: { json: "/id" },
  status: [{ json: "/why" }, { json: "/s" }],
  statuses: { LOST: "undelivered" },
};

/** What a report of a lost message, with these fields besides, makes its receipt say. */
function lost(report: Record<string, string>, description: Partial<CallbackDescription> = {}) {
  const reader = {
    connector: { id: "c-1", secrets: {} },
    provider: "custom",
    description: { ...LOST, to: [{ json: "/to" }], ...description } as CallbackDescription,
    dltCodes: {},
    hasOwnIds: false,
  };
  const body = JSON.stringify({ id: "x-1", s: "LOST", ...report });
  const callback = { method: "POST", url: "/", headers: new Headers(), body, receivedAt: 1 };
  const reading = readCallback(reader, callback);
  const [receipt] = reading.kind === "receipts" ? reading.receipts : [];
  return receipt;
}

test("a receipt says in one short line what a provider reported, also where it tells a whole story", () => {
  const message = lost({ why: `it was\r\n${"long ".repeat(10_000)}` })?.error?.message;
  expect(message).toStartWith("custom reported it was long long");
  expect(message?.length).toBeLessThan(300);
});

test("a receipt does not repeat the number that it is about, in whichever field that is", () => {
  const told = "not to 98765 43210";
  const described = { error_code: { json: "/code" }, error_text: { json: "/text" } };
  for (const to of ["+919876543210", "9876543210"]) {
    const all = [
      lost({ to, code: told, text: told }, described),
      lost({ to, why: told }),
      lost({ to, code: told }, described),
    ];
    for (const receipt of all) {
      const said = [receipt?.error, receipt?.raw].map((each) => JSON.stringify(each)).join();
      expect(said).not.toMatch(/98765|43210|3210/);
    }
    expect(all[0]?.error).toMatchObject({ code: "custom.not_to" });
  }
});
