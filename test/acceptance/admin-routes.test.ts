import { beforeAll, describe, expect, test } from "bun:test";
import { rewriteRecord } from "./rewrite-record.ts";
import { onSharedAdmin, type RunningAdmin } from "./running-admin.ts";

onSharedAdmin((start) => {
  let admin: RunningAdmin;
  let live: string;

  beforeAll(async () => {
    ({ admin, live } = await start());
  });

  const NOBODY = "01890000-0000-7000-8000-000000000000";

  async function connector(config: object = { host: "a.example" }, kind = "test"): Promise<string> {
    const { status, json } = await admin.call("POST", "connectors", { kind, config });
    expect(status).toBe(201);
    return json.id;
  }

  describe("routes", () => {
    test("keep the order of their connectors", async () => {
      const [a, b] = [await connector(), await connector()];
      const { json } = await admin.call("POST", "routes", {
        account_id: live,
        channel: "sms",
        match: "+91",
        connector_ids: [b, a],
      });
      expect(json).toMatchObject({ route_id: json.id, account_id: live, match: "91", connector_ids: [b, a] });
      const { json: changed } = await admin.call("PATCH", `routes/${json.id}`, { connector_ids: [a] });
      expect(changed).toMatchObject({ match: "91", connector_ids: [a] });
    });

    test("name their account and connectors by ids in either case", async () => {
      const ids = [await connector(), await connector()];
      const [a = "", b = ""] = ids.map((id) => id.toUpperCase());
      const body = { account_id: live.toUpperCase(), channel: "sms", match: "381", connector_ids: [a, b] };
      const { status, json } = await admin.call("POST", "routes", body);
      expect([status, json]).toMatchObject([201, { account_id: live, connector_ids: ids }]);
      const connectors = [
        { connector_id: b, weight: 2 },
        { connector_id: a, weight: 1 },
      ];
      const { json: weighted } = await admin.call("PATCH", `routes/${json.id.toUpperCase()}`, { connectors });
      expect(weighted.connectors).toEqual(
        connectors.map((each) => ({ ...each, connector_id: each.connector_id.toLowerCase() })),
      );
    });

    test("without account and match they lead everywhere", async () => {
      const { json } = await admin.call("POST", "routes", {
        channel: "sms",
        connector_ids: [await connector()],
      });
      expect(json).toMatchObject({ channel: "sms", match: "" });
      expect(json).not.toHaveProperty("account_id");
    });

    test("every problem is reported at once", async () => {
      const email = await connector({ host: "relay.example" }, "smtp");
      const { status, json } = await admin.call("POST", "routes", {
        account_id: NOBODY,
        channel: "sms",
        match: "india",
        connector_ids: [email, NOBODY, "x"],
      });
      expect(status).toBe(400);
      expect(json.details).toMatchObject({
        account_id: "no such account",
        match: "must be 1 to 15 digits, for example 91",
        connector_ids: "3 of 3 entries are invalid",
        "connector_ids.1": "no such connector",
        "connector_ids.2": "no such connector",
      });
      expect(json.details["connector_ids.0"]).toContain("for email, not for sms");
    });

    test("an email route matches a domain", async () => {
      const id = await connector({ host: "relay.example" }, "smtp");
      const create = (match: string) =>
        admin.call("POST", "routes", { account_id: live, channel: "email", match, connector_ids: [id] });
      expect((await create("@Example.ORG")).json.match).toBe("example.org");
      expect((await create("not a domain")).json.details.match).toContain("must be a domain");
    });

    test("a connector is named once, and at least one is", async () => {
      const id = await connector();
      const create = (ids: string[]) =>
        admin.call("POST", "routes", { channel: "sms", match: "49", connector_ids: ids });
      expect((await create([id, id])).json.details["connector_ids.1"]).toBe("is named twice");
      expect((await create([])).json.details).toHaveProperty("connector_ids");
    });

    test("of two for the same messages the second is refused: it would never be chosen", async () => {
      const body = { account_id: live, channel: "sms", match: "33", connector_ids: [await connector()] };
      const { json: first } = await admin.call("POST", "routes", body);
      const twin = await admin.call("POST", "routes", body);
      expect(twin).toMatchObject({
        status: 409,
        json: { details: { match: `taken by the route ${first.id}` } },
      });
      const { json: other } = await admin.call("POST", "routes", { ...body, match: "34" });
      expect((await admin.call("PATCH", `routes/${other.id}`, { match: "33" })).status).toBe(409);
    });

    test("domains in two spellings are one, also in a route that was made long ago", async () => {
      const id = await connector({ host: "relay.example" }, "smtp");
      const [unicode, ascii] = ["bücher.example", "xn--bcher-kva.example"];
      const create = (over: object) =>
        admin.call("POST", "routes", { account_id: live, channel: "email", connector_ids: [id], ...over });
      const { json: first } = await create({ match: `@${unicode}`, sender: unicode });
      expect(first).toMatchObject({ match: ascii, sender: ascii });
      const taken = { status: 409, json: { details: { match: `taken by the route ${first.id}` } } };
      expect(await create({ match: ascii, sender: "Bücher.example" })).toMatchObject(taken);
      await rewriteRecord(admin, "routes", { id: first.id, match: unicode, sender: unicode });
      expect(await create({ match: ascii, sender: ascii })).toMatchObject(taken);
      expect((await create({ match: ascii })).status).toBe(201);
    });

    test("two that were made long ago for one domain may still be changed, but not into one another", async () => {
      const id = await connector({ host: "relay.example" }, "smtp");
      const create = async (match: string) => {
        const body = { account_id: live, channel: "email", connector_ids: [id], match };
        return (await admin.call("POST", "routes", body)).json.id;
      };
      const [first, second] = [await create("münchen.example"), await create("other.example")];
      await rewriteRecord(admin, "routes", { id: second, match: "münchen.example" });
      expect((await admin.call("PATCH", `routes/${second}`, { failover: "always" })).status).toBe(200);
      expect((await admin.call("PATCH", `routes/${second}`, { match: "third.example" })).status).toBe(200);
      expect(await admin.call("PATCH", `routes/${second}`, { match: "MÜNCHEN.example" })).toMatchObject({
        status: 409,
        json: { details: { match: `taken by the route ${first}` } },
      });
    });

    test("may be for one sender and one category, and are told apart by them", async () => {
      const to = { account_id: live, channel: "sms", match: "35", connector_ids: [await connector()] };
      const whole = { ...to, sender: "ACMECO", category: "promotional", failover: "always" };
      const { status, json } = await admin.call("POST", "routes", whole);
      expect([status, json]).toMatchObject([201, whole]);
      for (const less of [{ sender: "ACMECO" }, { category: "promotional" }, {}]) {
        const { status: made, json: shown } = await admin.call("POST", "routes", { ...to, ...less });
        expect([made, shown]).toMatchObject([201, { ...to, ...less, failover: "safe" }]);
      }
      expect((await admin.call("POST", "routes", whole)).status).toBe(409);
    });

    test("lose a condition that is cleared, unless another route has just those that are left", async () => {
      const to = { account_id: live, channel: "sms", connector_ids: [await connector()], match: "385" };
      const create = async (over: object) => (await admin.call("POST", "routes", { ...to, ...over })).json;
      const [whole, other] = [
        await create({ sender: "ACMECO", category: "promotional", failover: "always" }),
        await create({ sender: "ACMECO" }),
      ];
      const clear = (...fields: string[]) =>
        admin.call("PATCH", `routes/${whole.id}`, Object.fromEntries(fields.map((field) => [field, null])));
      const taken = { status: 409, json: { details: { match: `taken by the route ${other.id}` } } };
      expect(await clear("category")).toMatchObject(taken);
      const { json } = await clear("sender", "category", "failover");
      const { sender: _sender, category: _category, ...left } = whole;
      expect(json).toEqual({ ...left, failover: "safe" });
      expect((await admin.call("GET", `routes/${whole.id}`)).json).toEqual(json);
      expect((await clear("match")).json.details).toEqual({ match: "cannot be cleared" });
    });

    test("connectors may have weights, and lose them when they are named without", async () => {
      const [a, b, c] = [await connector(), await connector(), await connector()];
      const connectors = [
        { connector_id: a, weight: 3 },
        { connector_id: b, weight: 1 },
        { connector_id: c },
      ];
      const { json } = await admin.call("POST", "routes", {
        account_id: live,
        channel: "sms",
        match: "36",
        connectors,
      });
      expect(json).toMatchObject({ connectors, connector_ids: [a, b, c] });
      const { json: kept } = await admin.call("PATCH", `routes/${json.id}`, { match: "37" });
      expect(kept).toMatchObject({ match: "37", connectors });
      const { json: plain } = await admin.call("PATCH", `routes/${json.id}`, { connector_ids: [b, a] });
      expect(plain.connectors).toEqual([{ connector_id: b }, { connector_id: a }]);
    });

    test("what is wrong with a sender, a category, weights and connectors is said under their names", async () => {
      const id = await connector();
      const create = async (over: object) =>
        (await admin.call("POST", "routes", { account_id: live, channel: "sms", match: "38", ...over })).json
          .details;
      expect(await create({ connector_ids: [id], sender: "ÀCME" })).toHaveProperty("sender");
      expect(await create({ connector_ids: [id], category: "spam" })).toHaveProperty("category");
      expect(await create({ connector_ids: [id], failover: "never" })).toHaveProperty("failover");
      expect(Object.keys(await create({}))).toEqual(["connectors", "connector_ids"]);
      const both = await create({ connector_ids: [id], connectors: [{ connector_id: id }] });
      expect(Object.keys(both)).toEqual(["connectors", "connector_ids"]);
      const broken = [{ connector_id: id, weight: 0 }, { connector_id: id }, { connector_id: NOBODY }, {}];
      expect(await create({ connectors: broken })).toMatchObject({
        "connectors.0.weight": "must be from 1 to 1000",
        "connectors.1.connector_id": "is named twice",
        "connectors.2.connector_id": "no such connector",
        "connectors.3.connector_id": "required",
      });
      const relay = await connector({ host: "relay.example" }, "smtp");
      const email = { channel: "email", match: "a.example", connector_ids: [relay], category: "promotional" };
      expect(await create(email)).toEqual({ category: "is of SMS templates only" });
      const { json } = await admin.call("POST", "routes", {
        ...email,
        category: undefined,
        sender: "@Acme.example",
      });
      expect(json.sender).toBe("acme.example");
    });
  });
});
