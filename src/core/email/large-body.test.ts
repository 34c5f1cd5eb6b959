import { expect, test } from "bun:test";
import { isLargeContent, LARGE_BODY } from "./large-body.ts";

test("an email is large by both its bodies together", () => {
  const isLarge = (bodies: { readonly bodyText?: string; readonly bodyHtml?: string }) =>
    isLargeContent({ channel: "email", from: SENDER, to: [], subject: "", ...bodies });
  const [half, less] = ["x".repeat(LARGE_BODY / 2), "x".repeat(LARGE_BODY / 2 - 1)];
  expect(isLarge({ bodyText: half, bodyHtml: half })).toBe(true);
  expect(isLarge({ bodyText: half, bodyHtml: less })).toBe(false);
  for (const bodies of [{ bodyText: half + half }, { bodyHtml: half + half }])
    expect(isLarge(bodies)).toBe(true);
  expect(isLarge({})).toBe(false);
});

const SENDER = { email: "shop@example.com" as never };
