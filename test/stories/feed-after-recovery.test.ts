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
  for (let n = 0; n < 3; n++) await deliverSms(later);
  const { next } = await readUntil(later, "", await deliverSms(later));
  await end(later);

  const restored = await start(earlier.url);
  const ids: string[] = [];
  for (let n = 0; n < 8; n++) ids.push(await deliverSms(restored));
  const { told } = await readUntil(restored, next, ids.at(-1) ?? "");
  expect(ids.filter((id) => !told.includes(id))).toEqual([]);
  await end(restored);
  await Promise.all([original.drop(), earlier.drop()]);
  folder.remove();
}, 120_000);

async function end(service: PostriderProcess): Promise<void> {
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
}
