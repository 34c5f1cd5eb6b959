/** A process that is killed and started again does not know what it sent a moment before. The provider does. */
import { expect, test } from "bun:test";
import { admin, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { startFakeGateway } from "../fakes/fake-gateway.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { createSignals } from "../fakes/signals.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";

const RATE = 40;
/** What the process that was killed had sent may be read only now. */
const IN_FLIGHT = 5;

interface Provider {
  connect(service: PostriderProcess): Promise<string>;
  close(): Promise<void>;
}

const PROVIDERS: Readonly<Record<string, (onMessage: () => void) => Promise<Provider>>> = {
  async "an HTTP gateway"(onMessage) {
    const gateway = await startFakeGateway(() => {
      onMessage();
      return { status: 202, body: "0: Accepted for delivery" };
    });
    const config = { provider: "kannel", base_url: gateway.url, username: "u", password: "p" };
    const body = { kind: "http", name: "kannel", config: { ...config, max_per_second: RATE } };
    const connect = async (service: PostriderProcess) =>
      (await admin<{ connector_id: string }>(service, "/connectors", body)).connector_id;
    return { connect, close: gateway.close };
  },
  async "an SMSC"(onMessage) {
    const smsc = await startFakeSmsc({ submitStatus: () => void onMessage() });
    return {
      connect: (service) => connectSmsc(service, smsc, { binds: 2, max_per_second: RATE }),
      close: smsc.close,
    };
  },
};

onBothStores(
  (store) => {
    test.each(Object.keys(PROVIDERS))(
      "%s gets nothing in the first second after a start, since its rate may have been used just before",
      async (name) => {
        await using world = new AsyncDisposableStack();
        const folder = makeDataFolder(store);
        world.defer(folder.remove);
        const times: number[] = [];
        const signals = createSignals();
        const provider = await PROVIDERS[name]!(() => {
          times.push(Date.now());
          signals.tell();
        });
        world.defer(provider.close);
        let service = await startPostrider({ dataFolder: folder.path });
        world.defer(() => end(service));
        const live = await openLiveSms(service, { connectors: [await provider.connect(service)] });
        const to = Array.from({ length: 1000 }, (_, n) => `+4477009${String(n).padStart(5, "0")}`);
        const { apiKey, templateId: template_id } = live;
        const batch = { apiKey, path: "/v1/sms/messages", body: { to, template_id } };
        expect(await send(service, batch)).toMatchObject({ status: 202 });
        for (let starts = 0; starts < 2; starts++) {
          const before = times.length;
          await signals.until(() => times.length >= before + RATE);
          await end(service);
          const endedAt = Date.now();
          service = await startPostrider({ dataFolder: folder.path });
          const line = await service.line(/"msg":"connector is (connecting|up)"/);
          const openedAt = Date.parse((JSON.parse(line) as { time: string }).time);
          await signals.until(() => times.at(-1)! >= openedAt + 1_000);
          const early = times.filter((at) => at >= endedAt && at < openedAt + 1_000);
          expect(early.length).toBeLessThanOrEqual(IN_FLIGHT);
        }
      },
      120_000,
    );
  },
  { atOnce: true },
);

async function end(service: PostriderProcess): Promise<void> {
  service.kill("SIGKILL");
  await service.exited;
}
