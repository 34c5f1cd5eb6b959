/** A process is stopped while a provider has its messages, and goes on when every time limit is long over. */
import { expect, test } from "bun:test";
import { admin, reached } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { startFakeGateway } from "../fakes/fake-gateway.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { ownProcess } from "../one-process.ts";

const TIME_LIMIT_MS = 2_000;

/** The limit is over, and more than the second by which any timer may be late. */
const STOPPED_MS = TIME_LIMIT_MS + 2_500;

onBothStores(
  (store) => {
    test("answers that came meanwhile count, though they are read when their time is over", async () => {
      await using own = ownProcess(store);
      const [service, smsc, gateway] = await Promise.all([
        own.start(),
        startFakeSmsc({ receipts: "after", holdSubmits: true }),
        startFakeGateway("silent"),
      ]);
      const limit = { response_timeout_ms: TIME_LIMIT_MS };
      const bySmpp = await openLiveSms(service, { connectors: [await connectSmsc(service, smsc, limit)] });
      const kannel = { provider: "kannel", base_url: gateway.url, username: "acme", password: "secret" };
      const { connector_id } = await admin<{ connector_id: string }>(service, "/connectors", {
        kind: "http",
        config: { ...kannel, ...limit },
      });
      const byHttp = await openLiveSms(service, { connectors: [connector_id] });
      await smsc.until(() => smsc.bound().length === 1);
      const message = await bySmpp.send("+14155551911");
      const other = await byHttp.send("+14155551912");
      await Promise.all([smsc.until(() => smsc.submits.length === 1), gateway.whenRequests(1)]);

      service.kill("SIGSTOP");
      smsc.release();
      gateway.release({ status: 202, body: "0: Accepted for delivery" });
      await Bun.sleep(STOPPED_MS);
      service.kill("SIGCONT");
      expect(await reached(service, message, "delivered", "failed")).toMatchObject({ status: "delivered" });
      expect(await reached(service, other, "sent", "failed")).toMatchObject({ status: "sent" });
      const kinds = async (live: typeof bySmpp, of: typeof message) =>
        (await live.timeline(of)).map(({ kind, error }) => [kind, error?.code]);
      expect(await kinds(bySmpp, message)).toEqual([
        ["attempt", undefined],
        ["receipt", undefined],
      ]);
      expect(await kinds(byHttp, other)).toEqual([["attempt", undefined]]);
      expect([smsc.submits.length, gateway.requests.length]).toEqual([1, 1]);
      await Promise.all([smsc.close(), gateway.close()]);
    }, 120_000);
  },
  { atOnce: true },
);
