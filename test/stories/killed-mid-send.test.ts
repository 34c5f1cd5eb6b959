/** The process is killed while a submit_sm waits for its answer. What becomes of the message is the account's choice. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { reached } from "../admin.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";

let folder: ReturnType<typeof makeDataFolder>;
let service: PostriderProcess;
let smsc: FakeSmsc;
let connector: string;

beforeEach(async () => {
  folder = makeDataFolder();
  [service, smsc] = await Promise.all([
    startPostrider({ dataFolder: folder.path }),
    startFakeSmsc({ receipts: "after", holdSubmits: true }),
  ]);
  connector = await connectSmsc(service, smsc);
});

afterEach(async () => {
  service.kill("SIGKILL");
  await Promise.all([service.exited, smsc.close()]);
  folder.remove();
});

/** Kills the service as soon as the SMSC has `count` submit_sm, and starts it anew at the same address; later ones are answered. */
async function killOnceSubmitted(count: number): Promise<void> {
  await smsc.until(() => smsc.submits.length === count);
  service.kill("SIGKILL");
  await service.exited;
  await smsc.until(() => smsc.connections() === 0);
  smsc.dial.holdSubmits = false;
  const { port: PORT } = new URL(service.url);
  service = await startPostrider({ dataFolder: folder.path, env: { PORT } });
}

test("by default the message is sent again after the restart, and delivered", async () => {
  const live = await openLiveSms(service, { connectors: [connector] });
  const message = await live.send("+14155550901");
  await killOnceSubmitted(1);
  expect(await reached(service, message, "delivered", "failed", "expired")).toMatchObject({
    status: "delivered",
  });
  const [lost, again] = smsc.submits;
  expect(smsc.submits).toHaveLength(2);
  expect([again?.destination, again?.shortMessage]).toEqual([lost?.destination, lost?.shortMessage]);
});

test("where the account holds what is unconfirmed, it is not sent again, and fails at the end of its window", async () => {
  const settings = { on_unconfirmed: "hold" };
  const live = await openLiveSms(service, { connectors: [connector], settings });
  const message = await live.send("+14155550902", { expire_after_seconds: 5 });
  await killOnceSubmitted(1);
  expect(await reached(service, message, "sending", "failed")).toMatchObject({ status: "sending" });
  const next = await live.send("+14155550903");
  await reached(service, next, "delivered");
  expect(await reached(service, message, "failed", "expired", "delivered")).toMatchObject({
    status: "failed",
  });
  expect(smsc.submits.map(({ destination }) => destination.address)).toEqual(["14155550902", "14155550903"]);
  const kinds = (await live.timeline(message)).map(({ kind, error }) => [kind, error?.code]);
  expect(kinds).toEqual([
    ["interrupted", undefined],
    ["status", "unconfirmed"],
    ["status", "unconfirmed"],
  ]);
});
