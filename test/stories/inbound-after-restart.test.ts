/** A handset writes the same words before and after a restart: the SMSC has the acknowledgement of the first, or may not have it. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { inbound, ownNumber, write } from "../live-inbound.ts";
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

  /** How many of two messages that say the same are listed, where the process ends so in between. */
  async function listedAfter(signal: "SIGTERM" | "SIGKILL"): Promise<number> {
    const { api_key } = service.sandbox;
    expect(await write(smsc, "yes")).toBe(0);
    service.kill(signal);
    await service.exited;
    await smsc.until(() => smsc.connections() === 0);
    service = await startPostrider({ dataFolder: folder.path });
    await smsc.until(() => smsc.bound().length > 0);
    expect(await write(smsc, "yes")).toBe(0);
    return (await inbound(service, api_key)).length;
  }

  // On PostgreSQL the process cannot know what others have acknowledged.
  test("the same words written again after a stop are another message, where no other process may have had them", async () => {
    expect(await listedAfter("SIGTERM")).toBe(store === "sqlite" ? 2 : 1);
  });

  test("after a crash they are taken for the same message, delivered again", async () => {
    expect(await listedAfter("SIGKILL")).toBe(1);
  });
});
