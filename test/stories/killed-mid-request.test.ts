/** The process is killed while a gateway has its request. Its callback names the message by our own id, and finds it after the restart. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { admin, reached } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeGateway, startFakeGateway } from "../fakes/fake-gateway.ts";
import { keptPort } from "../fakes/kept-port.ts";
import type { MessageAt } from "../held-postrider.ts";
import { type LiveSms, openLiveSms } from "../live-sms.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

const RESENT = "+14155550901";
const HELD = "+14155550902";

onBothStores(() => {
  let folder: ReturnType<typeof makeDataFolder>;
  let service: PostriderProcess;
  let gateway: FakeGateway;
  let resending: LiveSms;
  let holding: LiveSms;
  let resent: MessageAt;
  let held: MessageAt;

  beforeAll(async () => {
    folder = makeDataFolder();
    const env = { PORT: String(await keptPort()) };
    [service, gateway] = await Promise.all([
      startPostrider({ dataFolder: folder.path, env }),
      startFakeGateway("silent"),
    ]);
    await admin(service, "/settings/public_url", { value: service.url }, "PUT");
    const { connector_id } = await admin<{ connector_id: string }>(service, "/connectors", {
      kind: "http",
      config: { provider: "kannel", base_url: gateway.url, username: "acme", password: "secret" },
    });
    const connectors = [connector_id];
    resending = await openLiveSms(service, { connectors });
    holding = await openLiveSms(service, { connectors, settings: { on_unconfirmed: "hold" } });
    resent = await resending.send(RESENT);
    held = await holding.send(HELD);
    await gateway.whenRequests(2);
    service.kill("SIGKILL");
    await service.exited;
    gateway.behave({ status: 202, body: "0: Accepted for delivery" });
    service = await startPostrider({ dataFolder: folder.path, env });
  });

  afterAll(async () => {
    service.kill("SIGKILL");
    await Promise.all([service.exited, gateway.close()]);
    folder.remove();
  });

  const requestsTo = (number: string) => gateway.requests.filter(({ query }) => query.to === number);

  async function callBack(number: string, status: string): Promise<void> {
    const url = requestsTo(number)[0]?.query["dlr-url"] ?? "";
    expect((await fetch(url.replace("%d", status).replace("%A", ""))).status).toBe(200);
  }

  const kinds = async (live: LiveSms, message: MessageAt) =>
    (await live.timeline(message)).map(({ kind }) => kind);

  test("a message that is held is what its callback says, and is not sent again", async () => {
    await until(
      () => kinds(holding, held),
      (all) => all.includes("interrupted"),
    );
    await callBack(HELD, "1");
    expect(await reached(service, held, "delivered", "failed")).toMatchObject({ status: "delivered" });
    expect(requestsTo(HELD)).toHaveLength(1);
  }, 120_000);

  test("by default it is sent again, and the first word about it is taken", async () => {
    await gateway.whenRequests(3);
    await reached(service, resent, "sent");
    await callBack(RESENT, "2");
    await callBack(RESENT, "1");
    expect(await reached(service, resent, "undelivered", "delivered")).toMatchObject({
      status: "undelivered",
    });
    expect(requestsTo(RESENT)).toHaveLength(2);
    expect((await kinds(resending, resent)).at(-1)).toBe("late_receipt");
  }, 120_000);
});
