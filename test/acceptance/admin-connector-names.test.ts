import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { onEveryAdmin, type Wrap } from "./running-admin.ts";

onEveryAdmin((startAdmin) => {
  test("a connector without a name gets the next usual one where another process has just taken the one that was free", async () => {
    const rivals = ["test", "test-2"];
    const wrap: Wrap = (store) => ({
      ...store,
      records: {
        ...store.records,
        async create(kind, record) {
          const name = rivals.shift();
          if (name !== undefined) await store.records.create(kind, { ...record, id: randomUUID(), name });
          return store.records.create(kind, record);
        },
      },
    });
    await using own = await startAdmin(wrap);
    const body = { kind: "test", config: { host: "a.example", password: "p" } };
    const made = await own.call("POST", "connectors", body);
    expect([made.status, made.json.name]).toEqual([201, "test-3"]);
    const named = { ...body, name: "test-3" };
    expect((await own.call("POST", "connectors", named)).status).toBe(409);
  });
});
