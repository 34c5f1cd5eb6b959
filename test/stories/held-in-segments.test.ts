/** A message is held whose segments an SMSC may have, while the route prefers a gateway, which takes messages in one piece. */
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
    const [smsc, gateway] = await Promise.all([startFakeSmsc({ holdSubmits: true }), startFakeGateway()]);
    await using own = ownProcess(store);
    const before = await own.start();
    const connectors = [
      await connectSmsc(before, smsc, { user_message_reference: true }),
      await connectGateway(before, gateway),
    ];
    const settings = { on_unconfirmed: "hold" };
    const live = await openLiveSms(before, { connectors, settings, body: "Your table is ready. ".repeat(9) });
    const message = await live.send("+14155550905");
    await smsc.until(() => smsc.submits.length === 2);
    await prefer(before, live, connectors.toReversed());
    before.kill("SIGKILL");
    await before.exited;

    const after = await own.start({ sandbox: before.sandbox });
    await isHeld(after, live, message.path);
    await smsc.until(() => smsc.bound().length === 1);
    expect(await afterReceipt({ smsc, place: 0 }, after, message)).toMatchObject({ status: "sending" });
    expect(await afterReceipt({ smsc, place: 1 }, after, message)).toMatchObject({ status: "delivered" });
    expect([smsc.submits.length, gateway.requests.length]).toEqual([2, 0]);
    await Promise.all([smsc.close(), gateway.close()]);
  }, 180_000);
});

async function connectGateway(service: PostriderProcess, { url }: FakeGateway): Promise<string> {
  const gateway = {
    send: { method: "POST", url: `${url}/send`, json: { to: "{{to}}" } },
    answer: { id: { json: "/id" } },
  };
  const config = { provider: "custom", gateway };
  const made = { kind: "http", name: "gateway", config };
  return (await admin<{ connector_id: string }>(service, "/connectors", made)).connector_id;
}

async function prefer(service: PostriderProcess, { accountId }: LiveSms, connector_ids: readonly string[]) {
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
