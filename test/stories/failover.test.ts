/**
 * The server that takes writes dies with everything on it, under load, and its standby takes over: again and again.
 * Nothing that was answered 202 is lost, and nothing leaves twice.
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { type PostgresPair, startPair } from "../postgres-pair.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { expectAllArrived, startLoad } from "../sms-load.ts";

const IS_LONG = process.env.POSTRIDER_LONG_TESTS === "1";
const KILLS = IS_LONG ? 50 : 3;

let folder: ReturnType<typeof makeDataFolder>;
let pair: PostgresPair | undefined;
let smsc: FakeSmsc | undefined;
let service: PostriderProcess | undefined;

beforeEach(() => {
  folder = makeDataFolder();
});

afterEach(async () => {
  service?.kill("SIGKILL");
  await service?.exited;
  await smsc?.close();
  await pair?.close();
  folder.remove();
});

test(
  `over ${KILLS} failovers under load every message that was answered 202 exists once, arrives, and leaves once`,
  async () => {
    pair = await startPair();
    smsc = await startFakeSmsc({ receipts: "after" });
    service = await startPostrider({ dataFolder: folder.path, databaseUrl: pair.url });
    const connector = await connectSmsc(service, smsc, { response_timeout_ms: 2_000, binds: 2 });
    const live = await openLiveSms(service, { connectors: [connector] });
    const load = startLoad(service, live);
    for (let kill = 0; kill < KILLS; kill++) {
      await load.more(40 + Math.floor(Math.random() * 100));
      await pair.killPrimary();
      await pair.promote();
      // Before there is a standby again: the process has found the new primary by itself.
      await load.more(20);
      await pair.rejoin();
    }
    await load.stop();

    await expectAllArrived(load, { service, smsc, live });
    service.kill("SIGTERM");
    expect(await service.exited).toBe(0);
  },
  IS_LONG ? 3_600_000 : 240_000,
);

test("a primary that is made read-only, and goes on beside its successor, is left for it at once", async () => {
  pair = await startPair();
  smsc = await startFakeSmsc({ receipts: "after" });
  service = await startPostrider({ dataFolder: folder.path, databaseUrl: pair.url });
  const connector = await connectSmsc(service, smsc, { response_timeout_ms: 2_000, binds: 2 });
  const live = await openLiveSms(service, { connectors: [connector] });
  const load = startLoad(service, live);
  await load.more(40);
  await pair.fencePrimary();
  await pair.promote();
  await load.more(20);
  await load.stop();
  await expectAllArrived(load, { service, smsc, live });
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
}, 60_000);
