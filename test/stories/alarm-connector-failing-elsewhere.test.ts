/** Two processes on one PostgreSQL, of which one has the only bind of an SMSC that takes nothing: who alarms. */
import { expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { freshDatabase } from "../postgres-database.ts";

const STEP_MS = 2_000;

test("the process that has the bind alarms that the connector fails, the other does not; when the bind moves, so does the alarm", async () => {
  await using world = new AsyncDisposableStack();
  const database = await freshDatabase();
  world.defer(database.drop);
  const environment = { DATABASE_URL: database.url };
  const one = await startHeldPostrider(undefined, environment);
  world.defer(closing(one));
  const smsc = await startFakeSmsc({ receipts: "after", submitStatus: 0x400 });
  world.defer(smsc.close);
  const connector = await connectSmsc(one, smsc);
  const live = await openLiveSms(one, { connectors: [connector] });
  await one.passUntil(() => smsc.bound().length > 0, 30_000);
  const two = await startHeldPostrider(undefined, { ...environment, POSTRIDER_DATA: one.dataFolder });
  world.defer(closing(two));

  /** Their clocks go on together, and each minute six messages come in. */
  const giveFor = async (minutes: number, ...services: readonly HeldPostrider[]) => {
    for (let past = 0; past < minutes * 60_000; past += STEP_MS) {
      if (past % 60_000 === 0) for (let count = 0; count < 6; count++) await send(services);
      for (const service of services) await service.pass(STEP_MS);
    }
  };
  let sent = 0;
  const send = ([service]: readonly HeldPostrider[]) => sendAt(service!, live, `+1415${5_550_000 + sent++}`);

  await giveFor(1, one, two);
  const [holder, other] = (await hasBind(one, connector)) ? ([one, two] as const) : ([two, one] as const);
  await giveFor(6, one, two);
  expect([await alarmsOf(holder), await alarmsOf(other)]).toEqual([["connector_failing"], []]);
  const binds = smsc.binds.length;
  await closing(holder)();
  await other.passUntil(() => smsc.binds.length > binds, 60_000);
  await giveFor(4, other);
  expect(await alarmsOf(other)).toEqual([]);
  await giveFor(3, other);
  expect(await alarmsOf(other)).toEqual(["connector_failing"]);
}, 180_000);

const closed = new Set<HeldPostrider>();

/** Closes it, unless that was done before. */
function closing(service: HeldPostrider): () => Promise<void> {
  return async () => {
    if (closed.has(service)) return;
    closed.add(service);
    await service.close();
  };
}

async function hasBind(service: HeldPostrider, connectorId: string): Promise<boolean> {
  const path = `/connectors/${connectorId}`;
  const { status } = await admin<{ status?: { binds?: { up: number } } }>(service, path);
  return status?.binds?.up === 1;
}

async function alarmsOf(service: HeldPostrider): Promise<readonly string[]> {
  const { data } = await admin<{ data: readonly { name: string }[] }>(service, "/alarms");
  return data.map(({ name }) => name);
}

async function sendAt(
  { url }: HeldPostrider,
  { apiKey, templateId }: { apiKey: string; templateId: string },
  to: string,
) {
  const answer = await fetch(`${url}/v1/sms/messages`, {
    method: "POST",
    headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" },
    body: JSON.stringify({ to, template_id: templateId }),
  });
  expect(answer.status).toBe(202);
}
