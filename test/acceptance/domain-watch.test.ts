/** The daily check of domains, and operators who change one while it is checked. */
import { expect, test } from "bun:test";
import { createDomainWatch } from "../../src/delivery/check-domains.ts";
import type { Records } from "../../src/store/store.ts";
import { onEveryAdmin } from "./running-admin.ts";

onEveryAdmin((startAdmin) => {
  test("keys that are made while a domain is checked stay, and the next check goes by them", async () => {
    await using admin = await startAdmin();
    const account_id = (await admin.call("POST", "accounts", { name: "Acme", mode: "live" })).json.id;
    const { json: domain } = await admin.call("POST", "domains", { account_id, domain: "kept.example" });
    const { id } = domain;
    for (const { type, name, value } of domain.records) admin.dns.set(`${type} ${name}`, [value]);
    expect((await admin.call("POST", `domains/${id}/verify`)).json.verified).toBe(true);
    const look = async (name: string) => {
      const found = admin.dns.get(name);
      if (!Array.isArray(found)) throw Object.assign(new Error("not found"), { code: "ENOTFOUND" });
      return found as readonly string[];
    };
    const { records } = admin.store;
    let made: string | undefined;
    // At the last moment before the check is written.
    const update: Records["update"] = async (kind, read, changes) => {
      made ??= (await admin.call("POST", `domains/${id}/rotate-dkim`)).json.next_dkim_selector;
      return records.update(kind, read, changes);
    };
    const watch = createDomainWatch({
      records: { ...records, update },
      dns: {
        resolveTxt: async (name) => [[...(await look(`TXT ${name}`))]],
        resolveMx: async () => [],
        resolveCname: (name) => look(`CNAME ${name}`),
      },
      log: { isDebug: () => false, debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    });
    const now = admin.clock.now() + 2 * 24 * 3_600_000;
    const nextSelector = async () => (await admin.call("GET", `domains/${id}`)).json.next_dkim_selector;
    for (let checks = 1; checks <= 2; checks++) {
      await watch.chore.run(now);
      expect(made).toBeString();
      expect(await nextSelector()).toBe(made);
    }
    const { json } = await admin.call("GET", `domains/${id}`);
    expect(json.checked_at).toBe(new Date(now).toISOString());
  });
});
