/** PostgreSQL is restarted under load, as for an upgrade of it. */
import { afterEach, beforeEach, test } from "bun:test";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { oneProcessOnPair } from "../one-process.ts";
import { expectAllArrived, startLoad } from "../sms-load.ts";

const RESTARTS = 2;

const { pair, start, stop } = oneProcessOnPair();
let smsc: FakeSmsc;

beforeEach(async () => {
  smsc = await startFakeSmsc({ receipts: "after" });
});

afterEach(() => smsc.close());

test("the process goes on by itself, and every message that was answered 202 exists once, arrives, and leaves once", async () => {
  const load = await startLoad(await start(), smsc);
  for (let restart = 0; restart < RESTARTS; restart++) {
    await load.more(60);
    await pair().restartPrimary();
    await load.more(20);
  }
  await load.stop();
  await expectAllArrived(load);
  await stop();
}, 120_000);
