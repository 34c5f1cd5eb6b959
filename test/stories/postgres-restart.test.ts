/** PostgreSQL is restarted under load, as for an upgrade of it. */
import { test } from "bun:test";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { ownProcessOnPair } from "../one-process.ts";
import { expectAllArrived, startLoad } from "../sms-load.ts";

const RESTARTS = 2;

test("the process goes on by itself, and every message that was answered 202 exists once, arrives, and leaves once", async () => {
  await using own = await ownProcessOnPair();
  const smsc = await startFakeSmsc({ receipts: "after" });
  const load = await startLoad(await own.start(), smsc);
  for (let restart = 0; restart < RESTARTS; restart++) {
    await load.more(60);
    await own.pair.restartPrimary();
    await load.more(20);
  }
  await load.stop();
  await expectAllArrived(load);
  await own.stop();
  await smsc.close();
}, 120_000);
