/** Receipts come on whichever session, twice, out of order, and after the service was started anew. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { reached } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";

onBothStores((store) => {
  let folder: ReturnType<typeof makeDataFolder>;
  let service: PostriderProcess;
  let smsc: FakeSmsc;

  beforeEach(async () => {
    folder = makeDataFolder();
    [service, smsc] = await Promise.all([
      startPostrider({ dataFolder: folder.path }),
      startFakeSmsc({ receipts: "none" }),
    ]);
  });

  afterEach(async () => {
    service.kill("SIGKILL");
    await Promise.all([service.exited, smsc.close()]);
    folder.remove();
  });

  /** Three segments, each with an id of its own, over two sessions. */
  async function openLong(): Promise<LiveSms> {
    const connector = await connectSmsc(service, smsc, { binds: 2 });
    await smsc.until(() => smsc.bound().length === 2);
    return openLiveSms(service, {
      connectors: [connector],
      body: "Read this to the end, please. ".repeat(14),
    });
  }

  test("a message is delivered once all its segments are, whatever the order and however often they say so", async () => {
    const live = await openLong();
    const message = await live.send("+14155551401");
    await reached(service, message, "sent");
    const [first, second, third] = smsc.submits;
    for (const submit of [third!, first!, third!, first!]) await smsc.sendReceipt(submit);
    expect(await reached(service, message, "sent")).toMatchObject({ status: "sent" });
    smsc.drop("transceiver");
    await smsc.until(() => smsc.bound().length === 1);
    expect(await smsc.sendReceipt(second!)).toBe(0);
    await smsc.sendReceipt(second!, "UNDELIV");
    expect(await reached(service, message, "delivered", "undelivered")).toMatchObject({
      status: "delivered",
    });
    const told = (await live.timeline(message)).map(({ kind, status }) => `${kind}:${status}`);
    const late = ["late_receipt:sent", "late_receipt:sent"];
    expect(told).toEqual([
      ...["attempt:sent", "receipt:sent", "receipt:sent", ...late],
      ...["receipt:delivered", "late_receipt:delivered"],
    ]);
  });

  test("a receipt that comes after a restart finds its message", async () => {
    const live = await openLong();
    const message = await live.send("+14155551402");
    await reached(service, message, "sent");
    await smsc.sendReceipt(smsc.submits[0]!);
    // What is killed on PostgreSQL holds its binds for 15 s more: two-processes.test.ts waits for that.
    service.kill(store === "sqlite" ? "SIGKILL" : "SIGTERM");
    await service.exited;
    service = await startPostrider({ dataFolder: folder.path });
    await smsc.until(() => smsc.bound().length === 2);
    for (const submit of smsc.submits.slice(1)) expect(await smsc.sendReceipt(submit)).toBe(0);
    expect(await reached(service, message, "delivered", "failed")).toMatchObject({ status: "delivered" });
  });
});
