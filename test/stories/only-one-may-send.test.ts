/** A connector has taken the first segment of a long message, so only that one may send the rest; but others have its slots. */
import { afterEach, expect, test } from "bun:test";
import { admin, reached, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { LONG, takeInPart, waitInQueueOfFirst } from "../owned-message.ts";
import { freshDatabase } from "../postgres-database.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { openTwoSmscs, type TwoSmscs } from "../two-smscs.ts";
import { until } from "../until.ts";

const NUMBER = "+14155550711";

onBothStores(() => {
  let two: TwoSmscs | undefined;
  afterEach(async () => {
    await two?.close();
    two = undefined;
  });

  test("the rest of a message does not wait for the end of another route's batch over its connector", async () => {
    two = await openTwoSmscs(() => ({}), { max_per_second: 10 }, LONG);
    const { first, second, live, postrider } = two;
    const message = await takeInPart(first, () => live.send(NUMBER));
    await postrider.reached(message, "queued");
    await two.addRoute(([one]) => ({ match: "44", connector_ids: [one] }));
    await two.changeRoute(([one, other]) => ({ connector_ids: [other, one] }));
    const to = Array.from({ length: 400 }, (_, index) => `+447700${900_000 + index}`);
    const body = { to, template_id: live.templateId };
    await send(postrider, { apiKey: live.apiKey, path: "/v1/sms/messages", body });
    expect(await postrider.reached({ ...message, withinMs: 10_000 }, "delivered")).toBe("delivered");
    expect(first.submits.length).toBeLessThan(200);
    expect(second.submits).toEqual([]);
  });

  test("what waits for a connector that is busy is decided anew within a minute after that is gone", async () => {
    two = await openTwoSmscs(() => ({}), { window: 1 }, LONG);
    const { first, second, live, postrider, ids } = two;
    const message = await takeInPart(first, () => live.send(NUMBER));
    await postrider.reached(message, "queued");
    const other = await two.addRoute(([one]) => ({ match: "44", connector_ids: [one] }));
    await waitInQueueOfFirst(two, message, "+447700900711");
    await admin(postrider, `/routes/${other}`, { connector_ids: [ids[1]] }, "PATCH");
    await admin(postrider, `/connectors/${ids[0]}`, undefined, "DELETE");
    expect(await postrider.reached({ ...message, withinMs: 62_000 }, "failed")).toBe("failed");
    expect((await live.timeline(message)).at(-1)).toMatchObject({ error: { code: "connector_deleted" } });
    const numbers = second.submits.map(({ destination }) => `+${destination.address}`);
    expect(numbers).not.toContain(NUMBER);
  });
});

/** How many binds of a connector are up in the process. */
async function bindsAt(service: PostriderProcess, id: string): Promise<number> {
  const { status } = await admin<{ status?: { binds?: { up: number } } }>(service, `/connectors/${id}`);
  return status?.binds?.up ?? 0;
}

/** Which of the processes has the connector's only bind. */
function holderOf(services: readonly PostriderProcess[], id: string): Promise<number> {
  const look = () => Promise.all(services.map((service) => bindsAt(service, id)));
  return until(
    async () => (await look()).indexOf(1),
    (holder) => holder >= 0,
  );
}

test("the rest of a message goes out though the connector that its route prefers is bound in another process", async () => {
  const [database, ...smscs] = await Promise.all([
    freshDatabase(),
    startFakeSmsc({ receipts: "after" }),
    startFakeSmsc({ receipts: "after" }),
  ]);
  const [preferred, owner] = smscs;
  const folders = [makeDataFolder(), makeDataFolder()] as const;
  const databaseUrl = database.url;
  const one = await startPostrider({ dataFolder: folders[0].path, databaseUrl });
  const { sandbox } = one;
  const services = [one, await startPostrider({ dataFolder: folders[1].path, databaseUrl, sandbox })];
  try {
    const ids = [await connectSmsc(one, preferred), await connectSmsc(one, owner)];
    // Their ids decide in which process each is bound.
    while ((await holderOf(services, ids[0]!)) === (await holderOf(services, ids[1]!))) {
      await admin(one, `/connectors/${ids[1]}`, undefined, "DELETE");
      ids[1] = await connectSmsc(one, owner);
    }
    const live = await openLiveSms(one, { connectors: [ids[1]!], body: LONG });
    const message = await takeInPart(owner, () => live.send(NUMBER));
    const { data } = await admin<{ data: { route_id: string }[] }>(one, "/routes");
    await admin(one, `/routes/${data[0]?.route_id}`, { connector_ids: ids }, "PATCH");
    await reached(one, message, "delivered");
    expect(smscs.map(({ submits }) => submits.length)).toEqual([0, 3]);
  } finally {
    for (const service of services) service.kill("SIGKILL");
    await Promise.all(services.map(({ exited }) => exited));
    await Promise.all(smscs.map((smsc) => smsc.close()));
    await database.drop();
    for (const folder of folders) folder.remove();
  }
}, 120_000);
