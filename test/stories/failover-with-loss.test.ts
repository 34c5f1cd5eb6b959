/** A standby is promoted that lacks what the primary committed last, as with asynchronous replication. Processes go on. */
import { expect, test } from "bun:test";
import { deliverSms, readUntil } from "../feed-reader.ts";
import { ownProcessOnPair } from "../one-process.ts";

test.concurrent("what is accepted afterwards is delivered, though the queue was new in what is lost", async () => {
  await using own = await ownProcessOnPair();
  const { pair } = own;
  const service = await own.start();
  await pair.goAsynchronous();
  await pair.detachStandby();
  await deliverSms(service);
  await pair.killPrimary();
  await pair.promote();
  await deliverSms(service);
  await own.stop();
}, 120_000);

test.concurrent("readers of the event feed miss nothing of it, with cursors from what is lost", async () => {
  await using own = await ownProcessOnPair();
  const { pair } = own;
  const service = await own.start();
  await readUntil(service, "", await deliverSms(service));
  await pair.goAsynchronous();
  await pair.detachStandby();
  for (let n = 0; n < 4; n++) await deliverSms(service);
  const { next } = await readUntil(service, "", await deliverSms(service));
  await pair.killPrimary();
  await pair.promote();
  const ids: string[] = [];
  for (let n = 0; n < 8; n++) ids.push(await deliverSms(service));
  const { told } = await readUntil(service, next, ids.at(-1) ?? "");
  expect(ids.filter((id) => !told.includes(id))).toEqual([]);
  await own.stop();
}, 120_000);
