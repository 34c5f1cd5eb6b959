import { describe, expect, test } from "bun:test";
import type { Route } from "./accounts.ts";
import { chooseRoute, type Destination } from "./routes.ts";

type Named = Omit<Partial<Route>, "id">;

function route(id: string, over: Named = {}): Route {
  return { id, channel: "sms", match: "", connectorIds: [], createdAt: 0, ...over };
}

const to: Destination = {
  accountId: "a",
  channel: "sms",
  destination: "+919876543210",
  sender: "ACMECO",
  category: "promotional",
};

/** In order: each is chosen before all that stand below it. */
const MOST_SPECIFIC_FIRST: readonly Named[] = [
  { accountId: "a", match: "9198", sender: "ACMECO", category: "promotional" },
  { accountId: "a", match: "9198", sender: "ACMECO" },
  { accountId: "a", match: "9198", category: "promotional" },
  { accountId: "a", match: "9198" },
  { accountId: "a", match: "91", sender: "ACMECO", category: "promotional" },
  { accountId: "a", match: "91" },
  { accountId: "a", sender: "ACMECO", category: "promotional" },
  { accountId: "a", sender: "ACMECO" },
  { accountId: "a", category: "promotional" },
  { accountId: "a" },
  { match: "9198", sender: "ACMECO", category: "promotional" },
  { match: "9198" },
  { match: "91", sender: "ACMECO" },
  { match: "91" },
  { sender: "ACMECO" },
  { category: "promotional" },
  {},
];

describe("the most specific route counts", () => {
  const routes = MOST_SPECIFIC_FIRST.map((over, index) => route(String(99 - index), over));
  test.each(routes.map((each, index) => [JSON.stringify(MOST_SPECIFIC_FIRST[index]), index, each] as const))(
    "%s before what stands below it",
    (_, index, expected) => {
      const left = routes.slice(index);
      expect(chooseRoute(left, to)).toBe(expected);
      expect(chooseRoute(left.toReversed(), to)).toBe(expected);
    },
  );
});

const ELSEWHERE: readonly Named[] = [
  { channel: "email" },
  { accountId: "b" },
  { match: "44" },
  { match: "91987654321011" },
  { sender: "OTHERS" },
  { sender: "acmeco" },
  { category: "transactional" },
  { match: "91", sender: "ACMECO", category: "service_implicit" },
];

test.each(ELSEWHERE.map((over) => [JSON.stringify(over), over] as const))("%s leads elsewhere", (_, over) => {
  expect(chooseRoute([route("1", over)], to)).toBeUndefined();
});

test("a route for one sender or one category is not for messages that have none", () => {
  const bare: Destination = { accountId: "a", channel: "sms", destination: "+919876543210" };
  expect(chooseRoute([route("1", { sender: "ACMECO" })], bare)).toBeUndefined();
  expect(chooseRoute([route("1", { category: "promotional" })], bare)).toBeUndefined();
  expect(chooseRoute([route("1")], bare)?.id).toBe("1");
});

test("of two equal routes the oldest counts, in whatever order they are listed", () => {
  const routes = [route("2", { match: "91" }), route("1", { match: "91" })];
  expect(chooseRoute(routes, to)?.id).toBe("1");
  expect(chooseRoute(routes.toReversed(), to)?.id).toBe("1");
});

test("an email route matches its whole domain only, and a sender's domain", () => {
  const routes = [route("1", { channel: "email", match: "example.com", sender: "acme.example" })];
  const email = { accountId: "a", channel: "email", sender: "acme.example" } as const;
  expect(chooseRoute(routes, { ...email, destination: "example.com" })?.id).toBe("1");
  expect(chooseRoute(routes, { ...email, destination: "mail.example.com" })).toBeUndefined();
  expect(
    chooseRoute(routes, { ...email, destination: "example.com", sender: "mail.acme.example" }),
  ).toBeUndefined();
});

test("a domain is the same in every spelling, and none is more specific for being longer", () => {
  const domain = { channel: "email", match: "xn--bcher-kva.example" } as const;
  const routes = [
    route("1", domain),
    route("2", { ...domain, match: "bücher.example", sender: "Öl.example" }),
    route("3", { channel: "email", sender: "xn--l-0ga.example" }),
  ];
  const chosen = (destination: string, sender: string) =>
    chooseRoute(routes, { accountId: "a", channel: "email", destination, sender })?.id;
  for (const destination of ["bücher.example", "BÜCHER.example", "xn--bcher-kva.example"]) {
    for (const sender of ["öl.example", "xn--l-0ga.example"]) expect(chosen(destination, sender)).toBe("2");
    expect(chosen(destination, "example.com")).toBe("1");
  }
  expect(chosen("example.org", "öl.example")).toBe("3");
});
