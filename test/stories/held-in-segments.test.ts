/** A message is held whose segments an SMSC may have, while its route prefers, or only has, a gateway that takes messages in one piece. */
import { expect, test } from "bun:test";
import { admin, reached } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeGateway, startFakeGateway } from "../fakes/fake-gateway.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";
import { ownProcess } from "../one-process.ts";
import type { PostriderProcess } from "../postrider-process.ts";
import { until } from "../until.ts";

onBothStores((store) => {
  test("it is delivered once every segment is, whatever is preferred when it is held", async () => {
    await using cut = await killedWhileSending(store, (service, live, [smsc, gateway]) =>
      route(service, live, [gateway, smsc]),
    );
    const { after, live, message, smsc } = cut;
    await isHeld(after, live, message.path);
    await smsc.until(() => smsc.bound().length === 1);
    expect(await afterReceipt({ smsc, place: 0 }, after, message)).toMatchObject({ status: "sending" });
    expect(await afterReceipt({ smsc, place: 1 }, after, message)).toMatchObject({ status: "delivered" });
    expect([smsc.submits.length, cut.gateway.requests.length]).toEqual([2, 0]);
  }, 180_000);

  test("nor is it before that where only the gateway is left in the route", async () => {
    await using cut = await killedWhileSending(store, (service, live, [, gateway]) =>
      route(service, live, [gateway]),
    );
    const { after, live, message, smsc } = cut;
    await isHeld(after, live, message.path);
    await smsc.until(() => smsc.bound().length === 1);
    expect(await afterReceipt({ smsc, place: 0 }, after, message)).toMatchObject({ status: "sending" });
    expect(await afterReceipt({ smsc, place: 1 }, after, message)).toMatchObject({ status: "delivered" });
  }, 180_000);

  test("nor where the SMSC is disabled until it has been held", async () => {
    const enable = (service: PostriderProcess, smsc: string, enabled: boolean) =>
      admin(service, `/connectors/${smsc}`, { is_enabled: enabled }, "PATCH");
    await using cut = await killedWhileSending(store, (service, _, [smsc]) => enable(service, smsc, false));
    const { after, live, message, smsc, connectors } = cut;
    await isHeld(after, live, message.path);
    await enable(after, connectors[0], true);
    await smsc.until(() => smsc.bound().length === 1);
    expect(await afterReceipt({ smsc, place: 0 }, after, message)).toMatchObject({ status: "sending" });
    expect(await afterReceipt({ smsc, place: 1 }, after, message)).toMatchObject({ status: "delivered" });
  }, 180_000);

  test("what a gateway tells of its one piece by our id is told of all of it", async () => {
    const gateway = await startFakeGateway();
    gateway.behave("silent");
    await using own = ownProcess(store);
    const before = await own.start();
    await admin(before, "/settings/public_url", { value: before.url }, "PUT");
    const { connector_id, callback_path } = await connectGateway(before, gateway, OUR_ID);
    const live = await openLiveSms(before, { connectors: [connector_id], ...LONG_AND_HELD });
    const message = await live.send("+14155550906");
    await gateway.whenRequests(1);
    before.kill("SIGKILL");
    await before.exited;

    const after = await own.start({ sandbox: before.sandbox });
    await isHeld(after, live, message.path);
    const query = new URLSearchParams({ id: message.path.split("/").at(-1) ?? "", state: "DONE" });
    expect((await fetch(`${after.url}${callback_path}?${query}`)).status).toBe(200);
    expect(await reached(after, message, "delivered")).toMatchObject({ status: "delivered" });
    expect(gateway.requests.length).toBe(1);
    await gateway.close();
  }, 180_000);
});

/** A text of two segments, which is held once it is in doubt. */
const LONG_AND_HELD = { settings: { on_unconfirmed: "hold" }, body: "Your table is ready. ".repeat(9) };

type Connectors = readonly [smsc: string, gateway: string];

/** A process that follows one which was killed in the middle of a message, after `change` to its connectors. */
async function killedWhileSending(
  store: Parameters<typeof ownProcess>[0],
  change: (service: PostriderProcess, live: LiveSms, connectors: Connectors) => Promise<unknown>,
) {
  const [smsc, gateway] = await Promise.all([startFakeSmsc({ holdSubmits: true }), startFakeGateway()]);
  const own = ownProcess(store);
  const before = await own.start();
  const connectors: Connectors = [
    await connectSmsc(before, smsc, { user_message_reference: true }),
    (await connectGateway(before, gateway)).connector_id,
  ];
  const live = await openLiveSms(before, { connectors, ...LONG_AND_HELD });
  const message = await live.send("+14155550905");
  await smsc.until(() => smsc.submits.length === 2);
  await change(before, live, connectors);
  before.kill("SIGKILL");
  await before.exited;
  const after = await own.start({ sandbox: before.sandbox });
  return {
    smsc,
    gateway,
    connectors,
    live,
    message,
    after,
    async [Symbol.asyncDispose]() {
      await own[Symbol.asyncDispose]();
      await Promise.all([smsc.close(), gateway.close()]);
    },
  };
}

/** A gateway that takes our id of a message for its own, and reports by it. */
const OUR_ID = {
  send: { query: { id: "{{message_id}}", to: "{{to}}" } },
  answer: { own_id: true },
  callback: { id: { json: "/id" }, status: [{ json: "/state" }], statuses: { DONE: "delivered" } },
};

const ITS_ID = { send: { method: "POST", json: { to: "{{to}}" } }, answer: { id: { json: "/id" } } };

interface MadeGateway {
  readonly connector_id: string;
  readonly callback_path: string;
}

function connectGateway(
  service: PostriderProcess,
  { url }: FakeGateway,
  { send, ...naming }: typeof OUR_ID | typeof ITS_ID = ITS_ID,
): Promise<MadeGateway> {
  const config = { provider: "custom", gateway: { send: { url: `${url}/send`, ...send }, ...naming } };
  return admin<MadeGateway>(service, "/connectors", { kind: "http", name: "gateway", config });
}

async function route(service: PostriderProcess, { accountId }: LiveSms, connector_ids: readonly string[]) {
  const path = `/routes?account_id=${accountId}`;
  const { data } = await admin<{ data: readonly { route_id: string }[] }>(service, path);
  await admin(service, `/routes/${data[0]?.route_id}`, { connector_ids }, "PATCH");
}

async function isHeld(service: PostriderProcess, { accountId }: LiveSms, path: string): Promise<void> {
  const at = `/messages/sms/${path.split("/").at(-1)}/timeline?account_id=${accountId}`;
  await until(
    () => admin<{ data: readonly { error?: { code: string } }[] }>(service, at),
    ({ data }) => data.some(({ error }) => error?.code === "unconfirmed"),
  );
}

/** Resolves with the message once a receipt for the segment at this place is acknowledged. */
async function afterReceipt(
  { smsc, place }: { readonly smsc: FakeSmsc; readonly place: number },
  service: PostriderProcess,
  message: Parameters<typeof reached>[1],
) {
  await smsc.sendReceipt(smsc.submits[place]!);
  return reached(service, message, "sending", "sent", "delivered");
}
