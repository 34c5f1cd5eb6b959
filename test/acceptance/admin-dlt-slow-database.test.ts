/** A list from a DLT portal is brought into a database that stores one record after another, and slowly. */
import { expect, test } from "bun:test";
import { StoreUnavailable } from "../../src/store/store.ts";
import { onEveryAdmin, type RunningAdmin, type Wrap } from "./running-admin.ts";

/** How long the database takes for a record, and how long a change waits for its turn. */
const SLOW = { storeMs: 250, waitMs: 10_000 };

onEveryAdmin((startAdmin) => {
  test("an import into a slow database goes on piece by piece, none of which keeps its caller waiting for long", async () => {
    const admins: RunningAdmin[] = [];
    await using admin = await startAdmin(slowly(() => admins[0]));
    admins.push(admin);
    const rows = Array.from({ length: 70 }, (_, index) => `${1107000000000 + index},Hi ${index}`);
    const csv = `Template ID,Template Content\n${rows.join("\n")}`;
    const account_id = admin.accountId;
    const pieces = [];
    for (let after: number | undefined = 0; after !== undefined; ) {
      const askedMs = admin.clock.monotonicMs();
      const { status, json } = await admin.call("POST", "dlt/import", { account_id, csv, after });
      expect(status).toBe(200);
      expect(admin.clock.monotonicMs() - askedMs).toBeLessThan(SLOW.waitMs);
      pieces.push(json.created);
      after = json.next;
    }
    expect(pieces.reduce((sum, each) => sum + each)).toBe(rows.length);
    expect(pieces.length).toBeLessThan(rows.length / 10);
    const { json } = await admin.call("GET", `sms-templates?account_id=${account_id}&limit=1000`);
    expect(json.data).toHaveLength(rows.length);
  });
});

/** A store that creates one record at a time, and calls itself away where one has to wait too long, as on PostgreSQL. */
function slowly(at: () => RunningAdmin | undefined): Wrap {
  let line: Promise<unknown> = Promise.resolve();
  return (store) => ({
    ...store,
    records: {
      ...store.records,
      create(kind, record) {
        const clock = at()?.clock;
        const joinedMs = clock?.monotonicMs() ?? 0;
        const created = line.then(async () => {
          if (clock && clock.monotonicMs() - joinedMs > SLOW.waitMs)
            throw new StoreUnavailable("too many wait");
          await clock?.advance(SLOW.storeMs);
          return store.records.create(kind, record);
        });
        line = created.catch(() => undefined);
        return created;
      },
    },
  });
}
