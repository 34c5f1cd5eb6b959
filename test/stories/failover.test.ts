/**
 * The server that takes writes dies with everything on it, under load, and its standby takes over: again and again.
 * Nothing that was answered 202 is lost, and nothing leaves twice.
 */
import { test } from "bun:test";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { ownProcessOnPair } from "../one-process.ts";
import { expectAllArrived, startLoad } from "../sms-load.ts";

const IS_LONG = process.env.POSTRIDER_LONG_TESTS === "1";
const KILLS = IS_LONG ? 50 : 3;

test.concurrent(
  `over ${KILLS} failovers under load every message that was answered 202 exists once, arrives, and leaves once`,
  async () => {
    await using own = await ownProcessOnPair();
    const { pair } = own;
    const smsc = await startFakeSmsc({ receipts: "after" });
    const load = await startLoad(await own.start(), smsc);
    for (let kill = 0; kill < KILLS; kill++) {
      await load.more(40 + Math.floor(Math.random() * 100));
      await pair.killPrimary();
      await pair.promote();
      // Before there is a standby again: the process has found the new primary by itself.
      await load.more(20);
      await pair.rejoin();
    }
    await load.stop();

    await expectAllArrived(load);
    await own.stop();
    await smsc.close();
  },
  IS_LONG ? 3_600_000 : 240_000,
);

test.concurrent("a primary that is made read-only, and goes on beside its successor, is left for it at once", async () => {
  await using own = await ownProcessOnPair();
  const { pair } = own;
  const smsc = await startFakeSmsc({ receipts: "after" });
  const load = await startLoad(await own.start(), smsc);
  await load.more(40);
  await pair.fencePrimary();
  await pair.promote();
  await load.more(20);
  await load.stop();
  await expectAllArrived(load);
  await own.stop();
  await smsc.close();
}, 120_000);
