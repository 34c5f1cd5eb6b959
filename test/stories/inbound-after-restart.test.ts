/** A handset writes the same words before and after a restart: the SMSC has the acknowledgement of the first, or may not have it. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { inbound, ownNumber, write, writePart } from "../live-inbound.ts";
import { connectSmsc } from "../live-sms.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";

onBothStores((store) => {
  let folder: ReturnType<typeof makeDataFolder>;
  let service: PostriderProcess;
  let smsc: FakeSmsc;

  beforeEach(async () => {
    folder = makeDataFolder();
    [service, smsc] = await Promise.all([startPostrider({ dataFolder: folder.path }), startFakeSmsc()]);
    await connectSmsc(service, smsc);
    await ownNumber(service, service.sandbox.account_id);
    await smsc.until(() => smsc.bound().length > 0);
  });

  afterEach(async () => {
    service.kill("SIGKILL");
    await Promise.all([service.exited, smsc.close()]);
    folder.remove();
  });

  /** A short message, and a long one from a sender that gives all of them the same number. */
  async function writeBoth(): Promise<void> {
    expect(await write(smsc, "yes")).toBe(0);
    for (const number of [1, 2]) expect(await writePart(smsc, `part ${number}`, [7, 2, number])).toBe(0);
  }

  /** How often each text is listed that was written twice, where the process ends so in between. */
  async function listedAfter(signal: "SIGTERM" | "SIGKILL"): Promise<readonly number[]> {
    const { api_key } = service.sandbox;
    await writeBoth();
    service.kill(signal);
    await service.exited;
    await smsc.until(() => smsc.connections() === 0);
    service = await startPostrider({ dataFolder: folder.path });
    await smsc.until(() => smsc.bound().length > 0);
    await writeBoth();
    const list = await inbound(service, api_key);
    return ["yes", "part 1part 2"].map((text) => list.filter((message) => message.text === text).length);
  }

  // On PostgreSQL the process cannot know what others have acknowledged.
  test("the same words written again after a stop are another message, where no other process may have had them", async () => {
    expect(await listedAfter("SIGTERM")).toEqual(store === "sqlite" ? [2, 2] : [1, 1]);
  });

  test("after a crash they are taken for the same message, delivered again", async () => {
    expect(await listedAfter("SIGKILL")).toEqual([1, 1]);
  });
});
