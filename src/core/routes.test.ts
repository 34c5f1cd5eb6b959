import { expect, test } from "bun:test";
import type { Route } from "./accounts.ts";
import { chooseRoute } from "./routes.ts";

function route(id: string, over: Partial<Route> = {}): Route {
  return { id, channel: "sms", match: "", connectorIds: [], createdAt: 0, ...over };
}

const to = { accountId: "a", channel: "sms", destination: "+919876543210" } as const;

test("the longest matching prefix counts", () => {
  const routes = [
    route("1"),
    route("2", { match: "91" }),
    route("3", { match: "9198" }),
    route("4", { match: "44" }),
  ];
  expect(chooseRoute(routes, to)?.id).toBe("3");
});

test("an account's own route comes before a longer one of all accounts", () => {
  const routes = [
    route("1", { match: "9198" }),
    route("2", { accountId: "a" }),
    route("3", { accountId: "b" }),
  ];
  expect(chooseRoute(routes, to)?.id).toBe("2");
});

test("of two equal routes the oldest counts, in whatever order they are listed", () => {
  const routes = [route("2", { match: "91" }), route("1", { match: "91" })];
  expect(chooseRoute(routes, to)?.id).toBe("1");
  expect(chooseRoute(routes.toReversed(), to)?.id).toBe("1");
});

test("routes of the other channel and of other accounts lead nowhere", () => {
  const routes = [
    route("1", { channel: "email" }),
    route("2", { accountId: "b" }),
    route("3", { match: "44" }),
  ];
  expect(chooseRoute(routes, to)).toBeUndefined();
});

test("an email route matches its whole domain only", () => {
  const routes = [route("1", { channel: "email", match: "example.com" })];
  const email = { accountId: "a", channel: "email" } as const;
  expect(chooseRoute(routes, { ...email, destination: "example.com" })?.id).toBe("1");
  expect(chooseRoute(routes, { ...email, destination: "mail.example.com" })).toBeUndefined();
});
