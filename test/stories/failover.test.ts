/**
 * The server that takes writes dies with everything on it, under load, and its standby takes over: again and again.
 * Nothing that was answered 202 is lost, and nothing leaves twice.
 */
import { afterEach, beforeEach, test } from "bun:test";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { oneProcessOnPair } from "../one-process.ts";
import { expectAllArrived, startLoad } from "../sms-load.ts";

const IS_LONG = process.env.POSTRIDER_LONG_TESTS === "1";
const KILLS = IS_LONG ? 50 : 3;

const { pair, start, stop } = oneProcessOnPair();
let smsc: FakeSmsc;

beforeEach(async () => {
  smsc = await startFakeSmsc({ receipts: "after" });
});

afterEach(() => smsc.close());

test(
  `over ${KILLS} failovers under load every message that was answered 202 exists once, arrives, and leaves once`,
  async () => {
    const load = await startLoad(await start(), smsc);
    for (let kill = 0; kill < KILLS; kill++) {
      await load.more(40 + Math.floor(Math.random() * 100));
      await pair().killPrimary();
      await pair().promote();
      // Before there is a standby again: the process has found the new primary by itself.
      await load.more(20);
      await pair().rejoin();
    }
    await load.stop();

    await expectAllArrived(load);
    await stop();
  },
  IS_LONG ? 3_600_000 : 240_000,
);

test("a primary that is made read-only, and goes on beside its successor, is left for it at once", async () => {
  const load = await startLoad(await start(), smsc);
  await load.more(40);
  await pair().fencePrimary();
  await pair().promote();
  await load.more(20);
  await load.stop();
  await expectAllArrived(load);
  await stop();
}, 60_000);
