/**
 * The only bind of a connector goes from process to process while they are replaced one after the other. No message goes
 * over the next connector of the route for that; if the SMSC goes away, all do.
 */
import { expect, test } from "bun:test";
import { admin, reached } from "../admin.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";
import { freshDatabase } from "../postgres-database.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

/** Between two messages. */
const PAUSE_MS = 50;

/** Two processes on a database, and a route over two SMSCs of which the first has one bind. */
async function openWorld() {
  const [database, first, second] = await Promise.all([
    freshDatabase(),
    startFakeSmsc({ receipts: "none" }),
    startFakeSmsc({ receipts: "none" }),
  ]);
  const folders: ReturnType<typeof makeDataFolder>[] = [];
  const all: PostriderProcess[] = [];
  const start = async (): Promise<PostriderProcess> => {
    const folder = makeDataFolder();
    folders.push(folder);
    const sandbox = all[0] && { sandbox: all[0].sandbox };
    const service = await startPostrider({ dataFolder: folder.path, databaseUrl: database.url, ...sandbox });
    all.push(service);
    return service;
  };
  const services = [await start(), await start()] as const;
  const connectors = [await connectSmsc(services[0], first), await connectSmsc(services[0], second)];
  const live = await openLiveSms(services[0], { connectors });
  return {
    first,
    second,
    services,
    start,
    /** The account's messages, accepted by this process. */
    at:
      (service: PostriderProcess): LiveSms["send"] =>
      (to) =>
        sendAt(service, live, to),
    /** Whether messages go over the first connector at this process, or wait for it there. */
    async isWell(service: PostriderProcess): Promise<boolean> {
      const path = `/connectors/${connectors[0]}`;
      const { status } = await admin<{ status?: { health?: { score: number } } }>(service, path);
      return status?.health?.score === 1;
    },
    async [Symbol.asyncDispose]() {
      for (const service of all) service.kill("SIGKILL");
      await Promise.all(all.map((service) => service.exited));
      await Promise.all([first.close(), second.close()]);
      await database.drop();
      for (const folder of folders) folder.remove();
    },
  };
}

async function sendAt(service: PostriderProcess, { apiKey, templateId }: LiveSms, to: string) {
  const response = await fetch(`${service.url}/v1/sms/messages`, {
    method: "POST",
    headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" },
    body: JSON.stringify({ to, template_id: templateId }),
  });
  expect(response.status).toBe(202);
  const { message_id } = (await response.json()) as { message_id: string };
  return { apiKey, path: `/v1/sms/messages/${message_id}` };
}

const numbers = (smsc: FakeSmsc) => smsc.submits.map(({ destination }) => `+${destination.address}`);

/** Sends one message after the other until it is stopped, which resolves with their numbers. */
function sendAlong(send: LiveSms["send"]) {
  const sent: string[] = [];
  let isOver = false;
  const run = async () => {
    for (; !isOver; await Bun.sleep(PAUSE_MS)) {
      const to = `+44770091${String(sent.length).padStart(4, "0")}`;
      sent.push(to);
      await send(to);
    }
  };
  const running = run();
  return async () => {
    isOver = true;
    await running;
    return sent;
  };
}

test("a rolling restart moves the only bind of a connector, and no message goes over the next one for that", async () => {
  await using world = await openWorld();
  const { first, second, services, at } = world;
  for (const one of services) await until(() => world.isWell(one));
  await until(() => second.bound().length === 1);

  const replaced = await world.start();
  const stopLoad = sendAlong(at(replaced));
  let binds = first.binds.length;
  for (const one of services) {
    one.kill("SIGTERM");
    expect(await one.exited).toBe(0);
    await world.start();
    await first.until(() => first.bound().length === 1);
  }
  expect(first.binds.length).toBeGreaterThan(binds);
  const sent = await stopLoad();
  const all = () => [...numbers(first), ...numbers(second)];
  await until(() => all().length === sent.length);
  expect(numbers(second)).toEqual([]);
  expect(numbers(first).toSorted()).toEqual(sent.toSorted());

  // The SMSC goes away: then messages go over the next connector, also where the bind was not. That they do not wait as
  // for a move is shown with a held clock, in src/delivery/shares/elsewhere.test.ts.
  binds = first.binds.length;
  first.dial.hangUp = true;
  first.dropAll();
  const message = await at(replaced)("+447700990000");
  await second.until(() => numbers(second).length > 0);
  await reached(replaced, message, "sent");
  expect(first.binds.length).toBe(binds);
}, 120_000);
