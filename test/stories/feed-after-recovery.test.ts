/** A reader of the event feed, and a database that PostgreSQL's own tools have put back to an earlier moment. */
import { expect, test } from "bun:test";
import { deliverSms, readUntil } from "../feed-reader.ts";
import { copyOf, freshDatabase } from "../postgres-database.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";

test("misses nothing of what happens after it, with a cursor from what is gone", async () => {
  const folder = makeDataFolder();
  const original = await freshDatabase();
  const start = (databaseUrl: string) => startPostrider({ dataFolder: folder.path, databaseUrl });
  const first = await start(original.url);
  await readUntil(first, "", await deliverSms(first));
  await end(first);
  const earlier = await copyOf(original);

  const later = await start(original.url);
  await deliverMany(later, 3);
  const { next } = await readUntil(later, "", await deliverSms(later));
  await end(later);

  const restored = await start(earlier.url);
  const ids = await deliverMany(restored, 7);
  const { told } = await readUntil(restored, next, await deliverSms(restored));
  expect(ids.filter((id) => !told.includes(id))).toEqual([]);
  await end(restored);
  await Promise.all([original.drop(), earlier.drop()]);
  folder.remove();
}, 120_000);

/** Resolves with their ids when all are delivered. */
function deliverMany(service: PostriderProcess, count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => deliverSms(service)));
}

async function end(service: PostriderProcess): Promise<void> {
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
}
