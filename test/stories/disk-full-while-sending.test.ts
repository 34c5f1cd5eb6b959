/** The disk is full when the SMSC answers: what it said must not be forgotten, nor be caused again. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { reached } from "../admin.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { canLimitFiles, limitFiles } from "../fakes/process-limits.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";

const { CI } = process.env;
const testFullDisk = test.skipIf(!canLimitFiles && !CI); // skipped: this system cannot fill another process's disk

let folder: ReturnType<typeof makeDataFolder>;
let service: PostriderProcess;
let smsc: FakeSmsc;
let live: LiveSms;

beforeEach(async () => {
  folder = makeDataFolder();
  [service, smsc] = await Promise.all([
    startPostrider({ dataFolder: folder.path }),
    startFakeSmsc({ receipts: "none", holdSubmits: true }),
  ]);
  live = await openLiveSms(service, { connectors: [await connectSmsc(service, smsc)] });
});

afterEach(async () => {
  service.kill("SIGKILL");
  await Promise.all([service.exited, smsc.close()]);
  folder.remove();
});

/** The line that says a write has failed, so that what follows happens in the outage. */
async function untilRefused(): Promise<void> {
  await expect(live.send("+14155551299")).rejects.toThrow("503");
}

testFullDisk(
  "an answer that cannot be recorded is recorded once there is room, and the message is sent once",
  async () => {
    const message = await live.send("+14155551201");
    await smsc.until(() => smsc.submits.length === 1);
    limitFiles(service.pid, 0);
    await untilRefused();
    smsc.release();
    await untilRefused();
    expect(await reached(service, message, "sending", "sent", "failed")).toMatchObject({ status: "sending" });
    limitFiles(service.pid);
    await reached(service, message, "sent", "failed");
    expect(await smsc.sendReceipt(smsc.submits[0]!)).toBe(0);
    expect(await reached(service, message, "sent", "delivered")).toMatchObject({ status: "delivered" });
    expect(smsc.submits).toHaveLength(1);
  },
);

testFullDisk(
  "a receipt that cannot be stored is not acknowledged, and counts when the SMSC repeats it",
  async () => {
    smsc.release();
    const message = await live.send("+14155551202");
    await reached(service, message, "sent");
    limitFiles(service.pid, 0);
    await untilRefused();
    expect(await smsc.sendReceipt(smsc.submits[0]!)).toBe(0x64);
    expect(await reached(service, message, "sent", "delivered")).toMatchObject({ status: "sent" });
    limitFiles(service.pid);
    expect(await smsc.sendReceipt(smsc.submits[0]!)).toBe(0);
    expect(await reached(service, message, "sent", "delivered")).toMatchObject({ status: "delivered" });
  },
);
