/** The lists of records, searched by what the records are called. */
import { beforeAll, describe, expect, test } from "bun:test";
import { onSharedAdmin, type RunningAdmin } from "./running-admin.ts";

onSharedAdmin((start) => {
  let admin: RunningAdmin;
  let live: string;

  beforeAll(async () => {
    ({ admin, live } = await start());
  });

  /** Some that are called otherwise are there too. `parts`: what finds only the first of a noun. */
  const nouns = {
    accounts: {
      one: () => ({ name: "Zimmer & Söhne", mode: "live" }),
      other: () => ({ name: "Acme", mode: "live" }),
      parts: ["zimmer", "& SÖHNE"],
    },
    keys: {
      one: () => ({ account_id: live, name: "Nightly CI" }),
      other: () => ({ account_id: live }),
      parts: ["nightly"],
    },
    "sms-templates": {
      one: () => ({
        account_id: live,
        name: "Order way",
        body: "Code",
        dlt_template_id: "1107160000000000001",
      }),
      other: () => ({ account_id: live, name: "way", body: "Order", dlt_template_id: "1107160000000000002" }),
      parts: ["ORDER W", "000001"],
    },
    senders: {
      one: () => ({ account_id: live, sender_id: "ACMEIN" }),
      other: () => ({ account_id: live, sender_id: "OTHER" }),
      parts: ["mein"],
    },
    "dlt-entities": {
      one: () => ({ account_id: live, entity_id: "1101160000000000001", name: "Acme Retail" }),
      other: () => ({ account_id: live, entity_id: "1101160000000000002" }),
      parts: ["retail", "0000001"],
    },
    domains: {
      one: () => ({ account_id: live, domain: "mail.example.com" }),
      other: () => ({ account_id: live, domain: "example.org" }),
      parts: ["MAIL.EX"],
    },
    "push-apps": {
      one: () => ({ account_id: live, name: "iOS", platforms: ["apns"] }),
      other: () => ({ account_id: live, name: "Android", platforms: ["fcm"] }),
      parts: ["ios"],
    },
    contacts: {
      one: () => ({ account_id: live, external_id: "user-1" }),
      other: () => ({ account_id: live, external_id: "user-2" }),
      parts: ["R-1"],
    },
    connectors: {
      one: () => ({ name: "primary", kind: "test", config: { host: "a.example" } }),
      other: () => ({ name: "secondary", kind: "test", config: { host: "primary.example" } }),
      parts: ["Prim"],
    },
    "inbound-numbers": {
      one: () => ({ account_id: live, number: "+14155550123" }),
      other: () => ({ account_id: live, number: "+14155550188" }),
      parts: ["0123", "+1415555012", "555-0123"],
    },
    "opt-outs": {
      one: () => ({ account_id: live, recipient: "+919876543210" }),
      other: () => ({ account_id: live, recipient: "+919876543211" }),
      parts: ["3210", "+91 98765 43210", "(98765) 4321-0"],
    },
    suppressions: {
      one: () => ({ account_id: live, email: "gone_1@example.org" }),
      other: () => ({ account_id: live, email: "gone.1@example.org" }),
      parts: ["Gone_1"],
    },
    routes: {
      one: async () => ({ channel: "sms", match: "9198", connector_ids: [await connector("route")] }),
      other: async () => ({
        channel: "sms",
        match: "44",
        sender: "ACME",
        connector_ids: [await connector("other")],
      }),
      parts: ["919"],
    },
  } as const;

  async function connector(name: string): Promise<string> {
    return (await admin.call("POST", "connectors", { name, kind: "test", config: { host: "a.example" } }))
      .json.id;
  }

  const idsFound = async (path: string, search: string, more = "") => {
    const { status, json } = await admin.call("GET", `${path}?search=${encodeURIComponent(search)}${more}`);
    expect([status, json.details]).toEqual([200, undefined]);
    return json.data.map(({ id }: { id: string }) => id);
  };

  describe.each(Object.entries(nouns))("%s", (path, { one, other, parts }) => {
    test("are found by a part of what they are called, in any case, and by their id", async () => {
      const { json } = await admin.call("POST", path, await one());
      const { status, json: another } = await admin.call("POST", path, await other());
      expect(status).toBe(201);
      for (const part of [...parts, json.id, json.id.toUpperCase()])
        expect(await idsFound(path, part)).toEqual([json.id]);
      expect(await idsFound(path, another.id)).toEqual([another.id]);
      expect(await idsFound(path, "called like nobody")).toEqual([]);
    });
  });

  test("a search has pages, within one account, and is a filter among others", async () => {
    const { json: account } = await admin.call("POST", "accounts", { name: "Pages", mode: "live" });
    const ids: string[] = [];
    for (const email of ["x1@many.example", "none@few.example", "x2@many.example", "x3@many.example"]) {
      const { json } = await admin.call("POST", "suppressions", { account_id: account.id, email });
      if (email.startsWith("x")) ids.push(json.id);
    }
    const query = `suppressions?account_id=${account.id}&search=MANY&limit=2`;
    const { json: first } = await admin.call("GET", query);
    expect(first.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
    const { json: second } = await admin.call("GET", `${query}&after=${first.next}`);
    expect(second.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2));
    expect(second.next).toBeUndefined();
    expect(await idsFound("suppressions", "many", `&account_id=${live}`)).toEqual([]);
    expect(await idsFound("suppressions", "many", "&email=x2@many.example")).toEqual([ids[1]]);
    expect(await idsFound("suppressions", "x1", "&email=x2@many.example")).toEqual([]);
  });

  test("a search of blanks is none, and blanks at its ends do not count", async () => {
    const { json } = await admin.call("POST", "accounts", { name: "two words", mode: "live" });
    const { json: all } = await admin.call("GET", "accounts");
    for (const blank of ["", " "]) expect(await idsFound("accounts", blank)).toHaveLength(all.data.length);
    expect(await idsFound("accounts", " O W ")).toEqual([json.id]);
    const { json: unescaped } = await admin.call("GET", "accounts?search=+o+w");
    expect(unescaped.data).toEqual([json]);
  });

  test("a search that nothing can be called is refused", async () => {
    const refused = async (search: string) =>
      (await admin.call("GET", `accounts?search=${search}`)).json.details;
    expect(await refused("a%00b")).toEqual({ search: "must not contain NUL or unpaired surrogates" });
    expect(await refused("x".repeat(256))).toEqual({ search: "must be at most 255 characters" });
    expect(await idsFound("accounts", "🎉".repeat(255))).toEqual([]);
  });
});
