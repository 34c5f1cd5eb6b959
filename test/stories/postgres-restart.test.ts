/** PostgreSQL is restarted under load, as for an upgrade of it. */
import { afterEach, expect, test } from "bun:test";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { type PostgresPair, startPair } from "../postgres-pair.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { expectAllArrived, startLoad } from "../sms-load.ts";

const RESTARTS = 2;

const folder = makeDataFolder();
let pair: PostgresPair | undefined;
let smsc: FakeSmsc | undefined;
let service: PostriderProcess | undefined;

afterEach(async () => {
  service?.kill("SIGKILL");
  await service?.exited;
  await smsc?.close();
  await pair?.close();
  folder.remove();
});

test("the process goes on by itself, and every message that was answered 202 exists once, arrives, and leaves once", async () => {
  pair = await startPair();
  smsc = await startFakeSmsc({ receipts: "after" });
  service = await startPostrider({ dataFolder: folder.path, databaseUrl: pair.url });
  const connector = await connectSmsc(service, smsc, { response_timeout_ms: 2_000, binds: 2 });
  const live = await openLiveSms(service, { connectors: [connector] });
  const load = startLoad(service, live);
  for (let restart = 0; restart < RESTARTS; restart++) {
    await load.more(60);
    await pair.restartPrimary();
    await load.more(20);
  }
  await load.stop();
  await expectAllArrived(load, { service, smsc, live });
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
}, 120_000);
