import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createPrivateKey, createPublicKey } from "node:crypto";
import { type RunningAdmin, startAdmin } from "./running-admin.ts";

let admin: RunningAdmin;
let live: string;

beforeAll(async () => {
  admin = await startAdmin();
  live = (await admin.call("POST", "accounts", { name: "Acme", mode: "live" })).json.id;
});

afterAll(() => admin[Symbol.asyncDispose]());

describe("domains", () => {
  interface Shown {
    readonly purpose: string;
    readonly type: string;
    readonly name: string;
    readonly value: string;
    readonly strings?: readonly string[];
  }

  async function domain(name: string): Promise<{ id: string; records: Shown[] }> {
    const { status, json } = await admin.call("POST", "domains", { account_id: live, domain: name });
    expect(status).toBe(201);
    return json;
  }

  test("show three records ready to copy, long ones in strings of at most 255", async () => {
    const { records } = await domain("Shop.Example.");
    expect(records.map(({ type, name }) => [type, name])).toEqual([
      ["TXT", "_postrider.shop.example"],
      ["TXT", expect.stringMatching(/^pr[0-9a-f]{8}\._domainkey\.shop\.example$/)],
      ["CNAME", "bounce.shop.example"],
    ]);
    expect(records[1]?.value).toStartWith("v=DKIM1; k=rsa; p=");
    expect(records[1]?.strings?.join("")).toBe(records[1]?.value as string);
    expect(records[1]?.strings?.every((each) => each.length <= 255)).toBe(true);
  });

  test("the DKIM key is RSA of 2048 bits, and its private half is never shown", async () => {
    const { id, records } = await domain("key.example");
    const stored = await admin.store.records.find("domains", { id });
    const privateKey = createPrivateKey(stored?.dkimPrivateKey ?? "");
    expect(privateKey.asymmetricKeyDetails?.modulusLength).toBe(2048);
    const publicKey = createPublicKey(privateKey).export({ type: "spki", format: "der" }).toString("base64");
    expect(records[1]?.value).toEndWith(`p=${publicKey}`);
    expect(JSON.stringify((await admin.call("GET", `domains/${id}`)).json)).not.toContain("PRIVATE");
  });

  test("are verified once all three records are found, and each is told of", async () => {
    const { id, records } = await domain("good.example");
    const verify = async () => (await admin.call("POST", `domains/${id}/verify`)).json;
    const nothing = await verify();
    expect(nothing.verified).toBe(false);
    expect(nothing.records.map((each: { problem: string }) => each.problem)).toEqual([
      "no TXT record yet",
      "no TXT record yet",
      "no CNAME and no MX record yet",
    ]);

    const [ownership, dkim, path] = records as [Shown, Shown, Shown];
    admin.dns.set(`TXT ${ownership.name}`, ["other", ` ${ownership.value} `]);
    admin.dns.set(`TXT ${dkim.name}`, [dkim.value.replace("p=", "p=AAAA")]);
    admin.dns.set(`CNAME ${path.name}`, [`${path.value.toUpperCase()}.`]);
    const wrong = await verify();
    expect(wrong.records.map((each: { ok: boolean }) => each.ok)).toEqual([true, false, true]);
    expect(wrong.records[1].problem).toContain("another value");
    expect((await admin.call("GET", `domains/${id}`)).json).not.toHaveProperty("verified_at");

    admin.dns.set(`TXT ${dkim.name}`, [dkim.value.replace("k=rsa; ", "")]);
    const verified = await verify();
    expect(verified).toMatchObject({
      verified: true,
      verified_at: new Date(admin.clock.now()).toISOString(),
    });
    expect((await admin.call("GET", `domains/${id}`)).json.verified_at).toBe(verified.verified_at);
  });

  test("a return path may be any host that takes mail, but not one with a null MX", async () => {
    const { id } = await domain("path.example");
    const path = async () => (await admin.call("POST", `domains/${id}/verify`)).json.records[2];
    admin.dns.set("MX bounce.path.example", [""]);
    expect((await path()).ok).toBe(false);
    admin.dns.set("MX bounce.path.example", ["mx.path.example"]);
    expect(await path()).toMatchObject({ ok: true, found: ["MX mx.path.example"] });
  });

  test("a resolver that fails is told apart from a record that is missing", async () => {
    const { id, records } = await domain("down.example");
    admin.dns.set(`TXT ${records[0]?.name}`, Object.assign(new Error("x"), { code: "ESERVFAIL" }));
    const { json } = await admin.call("POST", `domains/${id}/verify`);
    expect(json.records[0].problem).toBe("DNS could not be asked (ESERVFAIL); try again later");
  });

  test("a verification once given is not taken away by a miss", async () => {
    const { id } = await domain("kept.example");
    await admin.store.records.update("domains", id, { verifiedAt: 5 });
    const { json } = await admin.call("POST", `domains/${id}/verify`);
    expect(json).toMatchObject({ verified: false, verified_at: new Date(5).toISOString() });
  });

  test.each(["localhost", "a b.example", "-x.example", "1.2.3.4", "a@b.example"])(
    "%s is none",
    async (name) => {
      const { json } = await admin.call("POST", "domains", { account_id: live, domain: name });
      expect(json.details).toHaveProperty("domain");
    },
  );

  test("one is taken once per account", async () => {
    await domain("once.example");
    const again = await admin.call("POST", "domains", { account_id: live, domain: "ONCE.example" });
    expect(again).toMatchObject({ status: 409, json: { details: { domain: "taken by another domain" } } });
    const other = await admin.call("POST", "domains", {
      account_id: admin.accountId,
      domain: "once.example",
    });
    expect(other.status).toBe(201);
  });
});
