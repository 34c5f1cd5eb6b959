import { expect, test } from "bun:test";
import { createWorld, DAY } from "../../contract/world.contract.ts";
import { openDriver } from "../database/driver.ts";
import { openFresh } from "../postgres-world.contract.ts";
import { daysWith } from "./days.ts";

test("a day that cannot be pruned keeps no other, and is pruned once it can be", async () => {
  const { store, url } = await openFresh();
  const driver = openDriver({ url, connections: 1 });
  const { sms, claim, settle, receive, clock } = await createWorld(store);
  const first = Math.floor(clock.now / DAY);
  const sent: string[] = [];
  for (let day = 0; day < 2; day++, clock.now += DAY) {
    const ids = await sms();
    for (const job of await claim()) await settle(job);
    for (const id of ids) await receive(`p-${id}`);
    sent.push(...ids);
  }
  const [bad = ""] = sent;
  await driver.hold((connection) =>
    connection.exec(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'damaged' USING ERRCODE = 'XX001'; END $$;
      CREATE TRIGGER refuse BEFORE DELETE ON provider_ids FOR EACH ROW
        WHEN (OLD.message_id = '${bad}') EXECUTE FUNCTION refuse()`),
  );
  const told = new Set<string>();
  const prune = async () => {
    const bounds = { before: (first + 3) * DAY, atLatest: 0, limit: 10 };
    for (let calls = 0; calls < 9; calls++)
      await store.retention.pruneMessages(bounds).catch((error: Error) => told.add(error.message));
  };
  await prune();
  expect(await daysWith(driver, "messages")).toEqual([first]);
  expect([...told]).toEqual(["the database is damaged: damaged"]);
  await driver.hold((connection) => connection.exec("DROP FUNCTION refuse CASCADE"));
  await prune();
  expect(await daysWith(driver, "messages")).toEqual([]);
  await driver.close();
  await store.close();
}, 120_000);
