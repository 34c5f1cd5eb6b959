/** A standby is promoted that lacks what the primary committed last, as with asynchronous replication. Processes go on. */
import { test } from "bun:test";
import { deliverSms } from "../feed-reader.ts";
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
}, 60_000);
