import { expect, test } from "bun:test";
import { map, piece } from "../../contract/inbound.contract.ts";
import { createWorld } from "../../contract/world.contract.ts";
import { MAX_WAITING_PARTS } from "../../inbound/inbound-parts.ts";
import { openInMemory } from "../sqlite-world.contract.ts";

test("where as many parts wait as may, a part of a new message is stored alone, and one that others wait for joins them", async () => {
  const { store, driver, inside } = await openInMemory();
  const world = { ...(await createWorld(store)), inside };
  await map(world);
  const part = (reference: number, number: number) =>
    piece(world, { text: `${number}`, part: { reference, total: 2, number } });
  const kindOf = async (reference: number, number: number) =>
    (await store.inbound.receive([part(reference, number)]))[0]?.kind;
  expect(await kindOf(1, 1)).toBe("waiting");
  driver.exec(`
    INSERT INTO inbound_parts (connector_id, sender, recipient, reference, total, number, id, provider_key, text, encoding, received_at)
    WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ${MAX_WAITING_PARTS})
    SELECT 'c', '+91', '+1', i, 2, 1, i, i, '"x"', 'gsm7', 1 FROM n`);
  expect(await kindOf(2, 1)).toBe("stored");
  expect(await kindOf(1, 2)).toBe("stored");
  const found = await store.inbound.list({ accountId: world.account.id, limit: 5 });
  expect(found.map(({ text, isPartial }) => [text, isPartial])).toEqual([
    ["12", undefined],
    ["1", true],
  ]);
  await store.close();
});
