import { beforeAll, describe, expect, test } from "bun:test";
import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { rewriteRecord } from "./rewrite-record.ts";
import { onSharedAdmin, type RunningAdmin } from "./running-admin.ts";

onSharedAdmin((start) => {
  let admin: RunningAdmin;
  let live: string;

  beforeAll(async () => {
    ({ admin, live } = await start());
  });

  describe("domains", () => {
    interface Shown {
      readonly purpose: string;
      readonly type: string;
      readonly name: string;
      readonly value: string;
      readonly strings?: readonly string[];
      readonly role: string;
      readonly zone: string;
    }

    async function domain(name: string): Promise<{ id: string; records: Shown[] }> {
      const { status, json } = await admin.call("POST", "domains", { account_id: live, domain: name });
      expect(status).toBe(201);
      return json;
    }

    test("show their records ready to copy, long ones in strings of at most 255, each as a line of a zone file", async () => {
      const { records } = await domain("Shop.Example.");
      expect(records.map(({ type, name, role }) => [type, name, role])).toEqual([
        ["TXT", "_postrider.shop.example", "required"],
        ["TXT", expect.stringMatching(/^pr[0-9a-f]{8}\._domainkey\.shop\.example$/), "required"],
        ["TXT", expect.stringMatching(/^pr[0-9a-f]{8}-ed\._domainkey\.shop\.example$/), "required"],
        ["CNAME", "bounce.shop.example", "required"],
        ["TXT", "_dmarc.shop.example", "advised"],
      ]);
      expect(records[1]?.value).toStartWith("v=DKIM1; k=rsa; p=");
      expect(records[1]?.strings?.join("")).toBe(records[1]?.value as string);
      expect(records[1]?.strings?.every((each) => each.length <= 255)).toBe(true);
      expect(records[2]?.value).toMatch(/^v=DKIM1; k=ed25519; p=[A-Za-z0-9+/]{43}=$/);
      const strings = records[1]?.strings?.map((each) => `"${each}"`).join(" ");
      expect(records[1]?.zone).toBe(`${records[1]?.name}. 3600 IN TXT ${strings}`);
      expect(records[3]?.zone).toBe("bounce.shop.example. 3600 IN CNAME shop.example.");
    });

    test("the return path leads to the host that takes the operator's bounces", async () => {
      await admin.call("PUT", "settings/return_path_host", { value: "Mail.Operator.example" });
      const { id, records } = await domain("bounces.example");
      expect(records[3]).toMatchObject({ name: "bounce.bounces.example", value: "mail.operator.example" });
      admin.dns.set("CNAME bounce.bounces.example", ["mail.operator.example"]);
      const { json } = await admin.call("POST", `domains/${id}/verify`);
      expect(json.records[3].ok).toBe(true);
      await admin.call("DELETE", "settings/return_path_host");
    });

    test("the DKIM keys are RSA of 2048 bits and Ed25519, and their private halves are sealed and never shown", async () => {
      const { id, records } = await domain("key.example");
      const stored = await admin.store.records.find("domains", { id });
      const [pair] = stored?.dkimKeys ?? [];
      const rsa = createPrivateKey(pair?.rsaPrivateKey ?? "");
      expect(rsa.asymmetricKeyDetails?.modulusLength).toBe(2048);
      const spki = (key: KeyObject) => createPublicKey(key).export({ type: "spki", format: "der" });
      expect(records[1]?.value).toEndWith(`p=${spki(rsa).toString("base64")}`);
      const ed25519 = createPrivateKey(pair?.ed25519PrivateKey ?? "");
      expect(records[2]?.value).toEndWith(`p=${spki(ed25519).subarray(-32).toString("base64")}`);
      expect(JSON.stringify((await admin.call("GET", `domains/${id}`)).json)).not.toContain("PRIVATE");
    });

    /** Puts the records into the DNS. */
    function publish(records: readonly Shown[]): void {
      for (const { type, name, value } of records) admin.dns.set(`${type} ${name}`, [value]);
    }

    test("are verified once all required records are found, and each is told of", async () => {
      const { id, records } = await domain("good.example");
      const verify = async () => (await admin.call("POST", `domains/${id}/verify`)).json;
      const nothing = await verify();
      expect(nothing.verified).toBe(false);
      expect(nothing.records.map((each: { problem: string }) => each.problem)).toEqual([
        "no TXT record yet",
        "no TXT record yet",
        "no TXT record yet",
        "no CNAME and no MX record yet",
        "no TXT record yet",
      ]);

      const [ownership, rsa, ed25519, path] = records as [Shown, Shown, Shown, Shown];
      admin.dns.set(`TXT ${ownership.name}`, ["other", ` ${ownership.value} `]);
      admin.dns.set(`TXT ${rsa.name}`, [rsa.value.replace("p=", "p=AAAA")]);
      admin.dns.set(`TXT ${ed25519.name}`, [ed25519.value]);
      admin.dns.set(`CNAME ${path.name}`, [`${path.value.toUpperCase()}.`]);
      const wrong = await verify();
      expect(wrong.records.map((each: { ok: boolean }) => each.ok)).toEqual([true, false, true, true, false]);
      expect(wrong.records[1].problem).toContain("another value");
      const { json: shown } = await admin.call("GET", `domains/${id}`);
      expect(shown).not.toHaveProperty("verified_at");
      expect(shown).toMatchObject({
        state: "pending",
        checked_at: new Date(admin.clock.now()).toISOString(),
      });
      expect(shown.records.map((each: { last_result: string }) => each.last_result)).toEqual([
        "ok",
        "wrong",
        "ok",
        "ok",
        "missing",
      ]);

      admin.dns.set(`TXT ${rsa.name}`, [rsa.value.replace("k=rsa; ", "")]);
      const verified = await verify();
      expect(verified).toMatchObject({
        verified: true,
        verified_at: new Date(admin.clock.now()).toISOString(),
      });
      expect((await admin.call("GET", `domains/${id}`)).json).toMatchObject({
        state: "verified",
        verified_at: verified.verified_at,
      });
    });

    test("a selector may be chosen, in either case, until its records are seen: then mail is signed by that name", async () => {
      const { id } = await domain("select.example");
      const choose = (dkim_selector: string) => admin.call("PATCH", `domains/${id}`, { dkim_selector });
      for (const bad of ["-mail", "mail-", "a.b", "a_b", "é"]) {
        const details = { dkim_selector: "must be letters, digits and hyphens" };
        expect([bad, await choose(bad)]).toMatchObject([bad, { status: 400, json: { details } }]);
      }
      const { json } = await choose("Mail-1");
      expect(json.records.slice(1, 3).map(({ name }: Shown) => name)).toEqual([
        "mail-1._domainkey.select.example",
        "mail-1-ed._domainkey.select.example",
      ]);
      publish(json.records);
      expect((await admin.call("POST", `domains/${id}/verify`)).json.verified).toBe(true);
      expect(await choose("other")).toMatchObject({
        status: 400,
        json: { details: { dkim_selector: "is in the DNS already: new keys get a new one" } },
      });
      const shown = await admin.call("GET", `domains/${id}`);
      expect(shown.json.dkim_selector).toBe("mail-1");
      expect(await choose("mail-1")).toMatchObject({ status: 200, json: shown.json });
    });

    test("DKIM keys are rotated: the old ones sign until the new records are seen, and stay in the DNS for a week", async () => {
      const { id, records } = await domain("rotate.example");
      const verify = () => admin.call("POST", `domains/${id}/verify`);
      const show = async () => (await admin.call("GET", `domains/${id}`)).json;
      publish(records);
      await verify();
      const before = await show();

      const rotated = await admin.call("POST", `domains/${id}/rotate-dkim`);
      expect(rotated.json).toMatchObject({ dkim_selector: before.dkim_selector, state: "verified" });
      expect(rotated.json.next_dkim_selector).not.toBe(before.dkim_selector);
      expect((await admin.call("POST", `domains/${id}/rotate-dkim`)).status).toBe(409);
      const next: Shown[] = rotated.json.records.filter(({ role }: Shown) => role === "next");
      expect(next.map(({ name }) => name)).toEqual([
        `${rotated.json.next_dkim_selector}._domainkey.rotate.example`,
        `${rotated.json.next_dkim_selector}-ed._domainkey.rotate.example`,
      ]);

      // Sent back with a change, or alone: it is the selector of the old keys, and never becomes that of the new ones.
      for (const sent of [rotated.json, { dkim_selector: before.dkim_selector.toUpperCase() }])
        expect((await admin.call("PATCH", `domains/${id}`, sent)).json).toEqual(rotated.json);

      publish(next.slice(0, 1));
      expect((await verify()).json.verified).toBe(true);
      expect((await show()).dkim_selector).toBe(before.dkim_selector);
      publish(next);
      await verify();
      const after = await show();
      expect(after).toMatchObject({ dkim_selector: rotated.json.next_dkim_selector, state: "verified" });
      expect(after).not.toHaveProperty("next_dkim_selector");
      expect(after.records.filter(({ role }: Shown) => role === "retiring")).toHaveLength(2);

      await admin.clock.advance(7 * 24 * 3_600_000);
      for (const { type, name } of records.slice(1, 3)) admin.dns.delete(`${type} ${name}`);
      expect((await verify()).json.verified).toBe(true);
      expect((await show()).records.filter(({ purpose }: Shown) => purpose === "dkim")).toHaveLength(2);
      expect((await admin.store.records.find("domains", { id }))?.dkimKeys).toHaveLength(1);
    });

    test("keys that nobody could look up yet are replaced at once", async () => {
      const { id } = await domain("early.example");
      const { json } = await admin.call("POST", `domains/${id}/rotate-dkim`);
      expect(json.records.filter(({ purpose }: Shown) => purpose === "dkim")).toHaveLength(2);
      expect(json).not.toHaveProperty("next_dkim_selector");
    });

    test("a return path may be any host that takes mail, but not one with a null MX", async () => {
      const { id } = await domain("path.example");
      const path = async () => (await admin.call("POST", `domains/${id}/verify`)).json.records[3];
      admin.dns.set("MX bounce.path.example", [""]);
      expect((await path()).ok).toBe(false);
      admin.dns.set("MX bounce.path.example", ["mx.path.example"]);
      expect(await path()).toMatchObject({ ok: true, found: ["MX mx.path.example"] });
    });

    test("a resolver that fails is told apart from a record that is missing", async () => {
      const { id, records } = await domain("down.example");
      admin.dns.set(`TXT ${records[0]?.name}`, Object.assign(new Error("x"), { code: "ESERVFAIL" }));
      admin.dns.set("CNAME bounce.down.example", Object.assign(new Error("x"), { code: "ETIMEOUT" }));
      const { json } = await admin.call("POST", `domains/${id}/verify`);
      expect(json.records[0].problem).toBe("DNS could not be asked (ESERVFAIL); try again later");
      expect(json.records[3].problem).toBe("DNS could not be asked (ETIMEOUT); try again later");
    });

    test("a verification once given is not taken away by a miss", async () => {
      const { id } = await domain("kept.example");
      await rewriteRecord(admin, "domains", { id, verifiedAt: 5 });
      const { json } = await admin.call("POST", `domains/${id}/verify`);
      expect(json).toMatchObject({ verified: false, verified_at: new Date(5).toISOString() });
    });

    test.each([
      "localhost",
      "a b.example",
      "-x.example",
      "1.2.3.4",
      "a@b.example",
      "xn--a.example",
      "xn--bücher.example",
    ])("%s is none", async (name) => {
      const { json } = await admin.call("POST", "domains", { account_id: live, domain: name });
      expect(json.details).toHaveProperty("domain");
    });

    test("an international one is the same in every spelling: taken once, shown in its ASCII form, found by any", async () => {
      const [unicode, ascii] = ["bücher.example", "xn--bcher-kva.example"];
      const spellings = [unicode, ascii, "Bücher.Example", "BÜCHER.example.", unicode.normalize("NFD")];
      for (const first of spellings) {
        const { id, records } = await domain(first);
        expect(records[0]?.name).toBe(`_postrider.${ascii}`);
        for (const second of spellings) {
          const again = await admin.call("POST", "domains", { account_id: live, domain: second });
          expect(again).toMatchObject({
            status: 409,
            json: { details: { domain: "taken by another domain" } },
          });
        }
        for (const asked of [unicode, ascii, unicode.toUpperCase(), unicode.normalize("NFD")]) {
          const { json } = await admin.call("GET", `domains?domain=${encodeURIComponent(asked)}`);
          expect(json.data.map((each: { domain: string }) => each.domain)).toEqual([ascii]);
        }
        await admin.call("DELETE", `domains/${id}`);
      }
    });

    test("one that was registered in Unicode long ago is taken, found and verified as it is", async () => {
      const { id } = await domain("öl.example");
      await rewriteRecord(admin, "domains", { id, domain: "öl.example" });
      const ascii = "xn--l-0ga.example";
      for (const name of ["öl.example", ascii]) {
        const again = await admin.call("POST", "domains", { account_id: live, domain: name });
        expect(again.status).toBe(409);
        const { json } = await admin.call("GET", `domains?domain=${encodeURIComponent(name)}`);
        expect(json.data).toMatchObject([{ id, domain: "öl.example" }]);
      }
      publish((await admin.call("GET", `domains/${id}`)).json.records);
      expect(admin.dns.has(`TXT _postrider.${ascii}`)).toBe(true);
      expect((await admin.call("POST", `domains/${id}/verify`)).json.verified).toBe(true);
    });

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
});
