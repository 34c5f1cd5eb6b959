/** A route is deleted while another process still goes by it: what that one has accepted for it goes over another route. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { admin, reached } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import type { MessageAt } from "../held-postrider.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { changeRows } from "../stored-rows.ts";

/** The id of the route that is gone. */
const GONE = "019a0000-0000-7000-8000-000000000000";

onBothStores(() => {
  let folder: ReturnType<typeof makeDataFolder>;
  let service: PostriderProcess;
  let smsc: FakeSmsc;
  let live: LiveSms;
  let connectorId: string;
  let led: MessageAt;
  let unled: MessageAt;

  const restart = async (meanwhile = async () => {}) => {
    service.kill("SIGTERM");
    await service.exited;
    await meanwhile();
    service = await startPostrider({ dataFolder: folder.path });
  };
  const addRoute = (match: string) =>
    admin(service, "/routes", {
      account_id: live.accountId,
      channel: "sms",
      match,
      connector_ids: [connectorId],
    });

  beforeAll(async () => {
    folder = makeDataFolder();
    [service, smsc] = await Promise.all([
      startPostrider({ dataFolder: folder.path }),
      startFakeSmsc({ receipts: "after" }),
    ]);
    smsc.dial.hangUp = true;
    connectorId = await connectSmsc(service, smsc);
    live = await openLiveSms(service, { connectors: [connectorId] });
    led = await live.send("+14155550901");
    unled = await live.send("+447700900901");
    await addRoute("1");
    // What is left when a process that has not read of the deletion accepts both. In one of order, the route stays while they wait.
    await restart(async () => {
      await changeRows(folder.path, `UPDATE queues SET name = '${GONE}' WHERE name NOT LIKE 'sandbox:%'`);
      await changeRows(folder.path, "DELETE FROM routes WHERE match = ''");
    });
    smsc.dial.hangUp = false;
  });

  afterAll(async () => {
    service.kill("SIGKILL");
    await Promise.all([service.exited, smsc.close()]);
    folder.remove();
  });

  test("a message that another route leads to goes over that one, once", async () => {
    await reached(service, led, "delivered");
    expect(smsc.submits.map(({ destination }) => destination.address)).toEqual(["14155550901"]);
  });

  test("a message that no route leads to waits until there is one", async () => {
    const told = "messages were accepted for a route while it was deleted";
    expect(await service.line(new RegExp(told))).toContain('"moved":1,"waiting":1');
    await reached(service, unled, "queued");
    await addRoute("44");
    await restart();
    await reached(service, unled, "delivered");
    expect(smsc.submits).toHaveLength(2);
  });
});
