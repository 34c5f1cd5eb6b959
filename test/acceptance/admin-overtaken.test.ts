/** Somebody else changes a record, at another process, just before a change of it is written. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Connector } from "../../src/core/records/accounts.ts";
import type { Records, Store } from "../../src/store/store.ts";
import { onEveryAdmin, type RunningAdmin } from "./running-admin.ts";

/** What the other does before the next changes are written, once for each. */
type Rival = (records: Records, read: Connector) => Promise<unknown>;

onEveryAdmin((startAdmin) => {
  let admin: RunningAdmin;
  let rival: Rival | undefined;
  /** The rival deletes the account that settings, secrets or suppressions are written for. */
  let isAccountDeleted = false;

  /** The rival comes in at the last moment, through the store itself. */
  function withRival(store: Store): Store {
    const { records } = store;
    const update: Records["update"] = async (kind, read, changes) => {
      if (kind === "connectors") await rival?.(records, read as Connector);
      return records.update(kind, read, changes);
    };
    const withoutAccount = async (id: string | undefined) => {
      if (isAccountDeleted && id !== undefined) await records.remove("accounts", id);
    };
    const setSettings: Records["setSettings"] = async (accountId, values) => {
      await withoutAccount(accountId);
      return records.setSettings(accountId, values);
    };
    const addWebhookSecret: Records["addWebhookSecret"] = async (accountId, ...secret) => {
      await withoutAccount(accountId);
      return records.addWebhookSecret(accountId, ...secret);
    };
    const add: Store["suppressions"]["add"] = async (entries) => {
      for (const { accountId } of entries) await withoutAccount(accountId);
      return store.suppressions.add(entries);
    };
    const suppressions = { ...store.suppressions, add };
    return { ...store, suppressions, records: { ...records, update, setSettings, addWebhookSecret } };
  }

  beforeAll(async () => {
    admin = await startAdmin(withRival);
  });

  afterAll(() => admin[Symbol.asyncDispose]());

  async function connector(name: string): Promise<string> {
    const config = { host: "a.example", port: 1 };
    return (await admin.call("POST", "connectors", { kind: "test", name, config })).json.id;
  }

  async function patch(id: string, config: object, by: Rival) {
    rival = by;
    const answer = await admin.call("PATCH", `connectors/${id}`, { config });
    rival = undefined;
    return answer;
  }

  /** Changes the connector as it is now, whatever that is. */
  const change = async (
    records: Records,
    { id }: Connector,
    over: (now: Connector) => Partial<Connector>,
  ) => {
    const now = await records.find("connectors", { id });
    if (now) await records.update("connectors", now, over(now));
  };

  test("a change is made to what the other has left", async () => {
    const id = await connector("once");
    let times = 0;
    const { status } = await patch(id, { port: 2, password: "secret" }, async (records, read) => {
      if (times++ > 0) return;
      await change(records, read, ({ config }) => ({ config: { ...config, host: "b.example" } }));
    });
    expect([status, times]).toEqual([200, 2]);
    const { json } = await admin.call("GET", `connectors/${id}`);
    expect(json).toMatchObject({ config: { host: "b.example", port: 2 }, secrets: { password: "set" } });
  });

  test("a change is judged by what the other has left", async () => {
    const id = await connector("judged");
    let times = 0;
    const { status, json } = await patch(id, { port: 2 }, async (records, read) => {
      if (times++ === 0) await change(records, read, () => ({ config: { port: 1 } }));
    });
    expect([status, json.details]).toEqual([400, { "config.host": "required" }]);
  });

  test("a connector that the other has deleted is not there", async () => {
    const id = await connector("gone");
    const { status } = await patch(id, { port: 2 }, (records) => records.remove("connectors", id));
    expect(status).toBe(404);
    expect((await admin.call("GET", `connectors/${id}`)).status).toBe(404);
  });

  for (const [what, method, path] of [
    ["a setting", "PUT", "settings/keep_bodies"],
    ["a webhook secret", "POST", "webhooks/secret/rotate"],
  ] as const) {
    test(`${what} for an account that the other has deleted is refused, since there is no such account`, async () => {
      const { json: account } = await admin.call("POST", "accounts", { name: "gone", mode: "live" });
      isAccountDeleted = true;
      const { status, json } = await admin.call(method, `${path}?account_id=${account.id}`, { value: true });
      isAccountDeleted = false;
      expect([status, json.details]).toEqual([400, { account_id: "no such account" }]);
    });
  }

  test("suppressions for an account that the other has deleted are refused, since there is no such account", async () => {
    const { json: account } = await admin.call("POST", "accounts", { name: "gone", mode: "live" });
    const entries = [{ email: "ann@example.net" }, { email: "bob@example.net" }];
    isAccountDeleted = true;
    const { status, json } = await admin.call("POST", "suppressions/import", {
      account_id: account.id,
      entries,
    });
    isAccountDeleted = false;
    expect([status, json.details]).toEqual([400, { account_id: "no such account" }]);
  });

  test("who is overtaken every time is told so in the end, and has changed nothing", async () => {
    const id = await connector("always");
    let times = 0;
    const { status, json } = await patch(id, { port: 2 }, (records, read) =>
      change(records, read, () => ({ name: `always-${++times}` })),
    );
    expect([status, json]).toEqual([
      409,
      { code: 409, message: "conflict", details: { id: "others keep changing the connector: try again" } },
    ]);
    expect(times).toBe(50);
    const { json: now } = await admin.call("GET", `connectors/${id}`);
    expect(now).toMatchObject({ name: "always-50", config: { port: 1 } });
  });
});
