/** Lists in which no index finds what is meant are read in pieces, however long they are. */
import { expect, test } from "bun:test";
import type { RecordTypes } from "../../../core/records/accounts.ts";
import type { RecordPage } from "../../store.ts";
import { openDriver } from "../database/driver.ts";
import { openFresh } from "../postgres-world.contract.ts";

/** Enough for three pieces. */
const COUNT = 50_000;

/** The store, with one connection for all, and the opt-outs of two accounts, numbered from 1. */
async function openOptOuts() {
  const { store, url } = await openFresh({ connections: 1 });
  const driver = openDriver({ url });
  for (const id of ["acme", "other"]) {
    await store.records.create("accounts", { id, name: id, mode: "live", createdAt: 0 });
    await driver.query(
      `INSERT INTO opt_outs (id, account_id, recipient, reason, created_at)
       SELECT lpad(n::text, 6, '0') || $1, $1, '+1' || (4150000000 + n), 'manual', 0
       FROM generate_series(1, ${COUNT}) AS n`,
      [id],
    );
  }
  await driver.close();
  const idsOf = async (
    where: Partial<RecordTypes["optOuts"]>,
    page: Partial<RecordPage<"optOuts">> = {},
  ): Promise<readonly string[]> =>
    (await store.records.list("optOuts", where, { limit: 10, ...page })).map(({ id }) => id);
  return { store, idsOf };
}

test("what is searched for, or is a number's, is found wherever in a long list it is, and page by page", async () => {
  const { store, idsOf } = await openOptOuts();
  const [last, accountId] = [{ recipient: `+1${4_150_000_000 + COUNT}` }, "acme"];
  expect(await idsOf({ ...last, accountId })).toEqual(["050000acme"]);
  expect(await idsOf(last)).toEqual(["050000acme", "050000other"]);
  const page = { search: { text: "7777", fields: ["recipient"] }, limit: 3 } as const;
  expect(await idsOf({ accountId }, page)).toEqual(["007777acme", "017777acme", "027777acme"]);
  expect(await idsOf({ accountId }, { ...page, after: "027777acme" })).toEqual(["037777acme", "047777acme"]);
  await store.close();
});

test("others that need the database do not wait until all of a long list has been looked at", async () => {
  const { store, idsOf } = await openOptOuts();
  const ended: string[] = [];
  const search = { text: "nowhere", fields: ["recipient"] } as const;
  await Promise.all([
    idsOf({ accountId: "acme" }, { search }).then((ids) => ended.push(`the list of ${ids.length}`)),
    store.records.version().then(() => ended.push("another")),
  ]);
  expect(ended).toEqual(["another", "the list of 0"]);
  await store.close();
});
