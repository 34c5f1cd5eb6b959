/** What is there already is found before it is written: PostgreSQL's own log would show the number. */
import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { freshDatabase } from "../../../../test/postgres-database.ts";
import { createRecordValues } from "../../records/record-values.ts";
import { createVault } from "../../vault.ts";
import { openDriver, type Session } from "../database/driver.ts";
import { createRecordRows } from "./record-rows.ts";

async function openRows() {
  const { url, drop } = await freshDatabase();
  const driver = openDriver({ url });
  const errors: unknown[] = [];
  const session: Session = {
    query: (sql, values) =>
      driver.query(sql, values).catch((error) => {
        errors.push(error);
        throw error;
      }) as never,
  };
  const rows = createRecordRows(createRecordValues(createVault({ masterKey: randomBytes(32), randomBytes })));
  await rows.insert(session, "accounts", { id: "acme", name: "Acme", mode: "live", createdAt: 0 });
  return {
    rows,
    session,
    errors,
    async [Symbol.asyncDispose]() {
      await driver.close();
      await drop();
    },
  };
}

const of = { accountId: "acme", createdAt: 0 } as const;

test("a number that has opted out before is a conflict, and no error of the database", async () => {
  await using world = await openRows();
  const { rows, session, errors } = world;
  const optOut = { ...of, recipient: "+14155550123", reason: "manual" } as const;
  expect(await rows.insert(session, "optOuts", { ...optOut, id: "1" })).toBe("created");
  expect(await rows.insert(session, "optOuts", { ...optOut, id: "2" })).toEqual({ conflict: "recipient" });
  // From one sender is another matter than from all.
  const fromOne = { ...optOut, sender: "ACMECO" };
  expect(await rows.insert(session, "optOuts", { ...fromOne, id: "3" })).toBe("created");
  expect(await rows.insert(session, "optOuts", { ...fromOne, id: "4" })).toEqual({ conflict: "recipient" });
  expect(await rows.insert(session, "optOuts", { ...fromOne, sender: "OTHER", id: "3" })).toEqual({
    conflict: "id",
  });
  expect(errors).toEqual([]);
});

test("a record that would become like another one is a conflict, and no error of the database", async () => {
  await using world = await openRows();
  const { rows, session, errors } = world;
  const [ann, bob] = [
    { ...of, id: "1", externalId: "ann@example.com" },
    { ...of, id: "2", externalId: "bob@example.com" },
  ];
  for (const contact of [ann, bob, { ...of, id: "3" }, { ...of, id: "4" }]) {
    expect(await rows.insert(session, "contacts", contact)).toBe("created");
  }
  const change = { read: bob, changes: { externalId: ann.externalId } };
  expect(await rows.update(session, "contacts", change)).toEqual({ conflict: "externalId" });
  const same = { read: bob, changes: { externalId: bob.externalId } };
  expect(await rows.update(session, "contacts", same)).toEqual(bob);
  expect(errors).toEqual([]);
});

test("a sender that is not created for its name does not end the default before it", async () => {
  await using world = await openRows();
  const { rows, session, errors } = world;
  const first = { ...of, id: "1", senderId: "ACMECO", isDefault: true };
  expect(await rows.insert(session, "senders", first)).toBe("created");
  expect(await rows.insert(session, "senders", { ...first, id: "2" })).toEqual({ conflict: "senderId" });
  const [found] = await rows.select(session, "senders", { where: { id: "1" }, limit: 1 });
  expect(found?.isDefault).toBe(true);
  const other = { ...of, id: "3", senderId: "OTHER", isDefault: false };
  await rows.insert(session, "senders", other);
  const change = { read: other, changes: { senderId: "ACMECO", isDefault: true } };
  expect(await rows.update(session, "senders", change)).toEqual({ conflict: "senderId" });
  expect((await rows.select(session, "senders", { where: { id: "1" }, limit: 1 }))[0]?.isDefault).toBe(true);
  expect(errors).toEqual([]);
});
