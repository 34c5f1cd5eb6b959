/** The daily check of domains: which it looks at, what it logs, and operators who change one while it is checked. */
import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import type { Domain } from "../../src/core/domains/domain.ts";
import { createDomainWatch } from "../../src/delivery/domain-watch.ts";
import type { Records } from "../../src/store/store.ts";
import { onEveryAdmin, type RunningAdmin } from "./running-admin.ts";

onEveryAdmin((startAdmin) => {
  const DAY_MS = 24 * 3_600_000;

  interface Line {
    readonly level: string;
    readonly fields: Record<string, unknown>;
  }

  /** A watch on the DNS of the admin's tests, with all that it logs, and the names it asks for. */
  function openWatch(admin: RunningAdmin, over: Partial<Records> = {}) {
    const lines: Line[] = [];
    const asked: string[] = [];
    const logAs = (level: string) => (fields: Record<string, unknown>) => void lines.push({ level, fields });
    const look = async (type: string, name: string) => {
      asked.push(name);
      const found = admin.dns.get(`${type} ${name}`);
      if (!Array.isArray(found)) throw Object.assign(new Error("not found"), { code: "ENOTFOUND" });
      return found as readonly string[];
    };
    const watch = createDomainWatch({
      records: { ...admin.store.records, ...over },
      dns: {
        resolveTxt: async (name) => [await look("TXT", name)],
        resolveMx: async () => [],
        resolveCname: (name) => look("CNAME", name),
      },
      log: {
        isDebug: () => false,
        debug: () => {},
        info: logAs("info"),
        warn: logAs("warn"),
        error: logAs("error"),
      },
    });
    return { ...watch, lines, asked };
  }

  const openAccount = async (admin: RunningAdmin): Promise<string> =>
    (await admin.call("POST", "accounts", { name: "Acme", mode: "live" })).json.id;

  async function register(admin: RunningAdmin, name: string) {
    const account_id = await openAccount(admin);
    const { json } = await admin.call("POST", "domains", { account_id, domain: name });
    const publish = () => {
      for (const { type, name, value } of json.records) admin.dns.set(`${type} ${name}`, [value]);
    };
    return { id: json.id as string, publish };
  }

  test("keys that are made while a domain is checked stay, and the next check goes by them", async () => {
    await using admin = await startAdmin();
    const { id, publish } = await register(admin, "kept.example");
    publish();
    expect((await admin.call("POST", `domains/${id}/verify`)).json.verified).toBe(true);
    const { records } = admin.store;
    let made: string | undefined;
    // At the last moment before the check is written.
    const update: Records["update"] = async (kind, read, changes) => {
      made ??= (await admin.call("POST", `domains/${id}/rotate-dkim`)).json.next_dkim_selector;
      return records.update(kind, read, changes);
    };
    const { chore, counts } = openWatch(admin, { update });
    const now = admin.clock.now() + 2 * DAY_MS;
    const nextSelector = async () => (await admin.call("GET", `domains/${id}`)).json.next_dkim_selector;
    for (let checks = 1; checks <= 2; checks++) {
      await chore.run(now);
      expect(made).toBeString();
      expect(await nextSelector()).toBe(made);
      expect(counts()).toMatchObject({ verified: 1, pending: 0 });
    }
    const { json } = await admin.call("GET", `domains/${id}`);
    expect(json.checked_at).toBe(new Date(now).toISOString());
  });

  test.each(["find", "update"] as const)(
    "a domain that is deleted before the %s of its check stays deleted, and others are checked all the same",
    async (last) => {
      await using admin = await startAdmin();
      const gone = await register(admin, "gone.example");
      const there = await register(admin, "there.example");
      there.publish();
      const { records } = admin.store;
      const remove = async ({ id }: { id?: string }) =>
        id === gone.id && (await admin.call("DELETE", `domains/${gone.id}`));
      const find: Records["find"] = async (kind, where) => {
        await remove(where);
        return records.find(kind, where);
      };
      const update: Records["update"] = async (kind, read, changes) => {
        await remove(read);
        return records.update(kind, read, changes);
      };
      await openWatch(admin, last === "find" ? { find } : { update }).chore.run(admin.clock.now());
      expect((await admin.call("GET", `domains/${gone.id}`)).status).toBe(404);
      expect((await admin.call("GET", `domains/${there.id}`)).json.state).toBe("verified");
    },
  );

  test("a round looks once at every domain that is due, however many there are, and counts them all", async () => {
    await using admin = await startAdmin();
    const accountId = await openAccount(admin);
    const now = admin.clock.now();
    const add = (index: number) => {
      const notDue = index < 10 && { nextCheckAt: now + 1 };
      const domain: Domain = {
        id: randomUUID(),
        accountId,
        domain: `d${index}.example`,
        ownershipToken: "token",
        dkimKeys: [],
        createdAt: now,
        ...notDue,
      };
      return admin.store.records.create("domains", domain);
    };
    // A few at a time: on a slow machine the last of 250 would not get a connection in time.
    for (let index = 0; index < 250; index += 5) {
      await Promise.all([0, 1, 2, 3, 4].map((more) => add(index + more)));
    }
    const { chore, counts, asked } = openWatch(admin);
    const none = { pending: 0, verified: 0, failing: 0, lapsed: 0 };
    while ((await chore.run(now)) > 0) expect(counts()).toEqual(none);
    const owned = asked.filter((name) => name.startsWith("_postrider."));
    expect([owned.length, new Set(owned).size]).toEqual([240, 240]);
    expect(counts()).toEqual({ ...none, pending: 250 });
    await chore.run(now);
    expect(asked.filter((name) => name.startsWith("_postrider."))).toHaveLength(240);
  });

  test("a domain that was checked while the clock was a year ahead is checked again once it is right", async () => {
    await using admin = await startAdmin();
    const { id, publish } = await register(admin, "early.example");
    publish();
    const { chore } = openWatch(admin);
    const now = admin.clock.now();
    await chore.run(now + 365 * DAY_MS);
    admin.dns.clear();
    await chore.run(now);
    expect((await admin.call("GET", `domains/${id}`)).json.state).toBe("failing");
  });

  test("a domain that is failing is logged at every check, one that stops or begins to send once", async () => {
    await using admin = await startAdmin();
    const { id, publish } = await register(admin, "acme.example");
    await admin.call("PUT", "settings/domain_grace_days", { value: "2" });
    const { chore, counts, lines } = openWatch(admin);
    const start = admin.clock.now();
    const seen: [string, string][] = [];
    for (let day = 0; day < 7; day++) {
      if (day === 0 || day === 5) publish();
      if (day === 1) admin.dns.clear();
      await chore.run(start + day * DAY_MS);
      const { state } = (await admin.call("GET", `domains/${id}`)).json;
      expect(counts()).toMatchObject({ [state]: 1 });
      seen.push([
        state,
        lines
          .splice(0)
          .map(({ level }) => level)
          .join(),
      ]);
    }
    expect(seen).toEqual([
      ["verified", "info"],
      ["failing", "warn"],
      ["failing", "warn"],
      ["lapsed", "error"],
      ["lapsed", ""],
      ["verified", "info"],
      ["verified", ""],
    ]);
  });

  test("the warning about a failing domain says which records are missing, and when it stops", async () => {
    await using admin = await startAdmin();
    const { publish } = await register(admin, "acme.example");
    publish();
    const { chore, lines } = openWatch(admin);
    const start = admin.clock.now();
    await chore.run(start);
    admin.dns.set("TXT _postrider.acme.example", ["other"]);
    admin.dns.delete("CNAME bounce.acme.example");
    for (const day of [1, 2]) await chore.run(start + day * DAY_MS);
    const warnings = lines.filter(({ level }) => level === "warn").map(({ fields }) => fields);
    const said = () => ({
      domain: "acme.example",
      missing: ["_postrider.acme.example", "bounce.acme.example"],
      stops_at: new Date(start + 8 * DAY_MS).toISOString(),
    });
    expect(warnings).toMatchObject([said(), said()]);
  });
});
