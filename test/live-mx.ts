/** A live account that sends straight to the mail hosts of `example.net`, found through a name server of the test's. */
import { admin, liveAccount, send } from "./admin.ts";
import { type FakeDns, startFakeDns } from "./fakes/fake-dns.ts";
import { mailTls } from "./fakes/mail-tls.ts";
import { type HeldPostrider, type MessageAt, startHeldPostrider } from "./held-postrider.ts";
import type { Entry } from "./live-sms.ts";
import { until } from "./until.ts";

export interface LiveMx {
  readonly postrider: HeldPostrider;
  /** `mx.example.net` is the only mail host, at 127.0.0.1. */
  readonly dns: FakeDns;
  /** Sends to these names at `example.net`, or to addresses. */
  send(...to: string[]): Promise<MessageAt>;
  /** The message's status once it is final; within ten minutes of the held clock, unless told otherwise. */
  end(message: MessageAt, withinMs?: number): Promise<string>;
  /** The code of the first attempt's error, once there is one: time hardly passes meanwhile, and no retry comes due. */
  firstError(message: MessageAt): Promise<string>;
  /** The last known outcome of each recipient, by the name before the @. */
  recipients(message: MessageAt): Promise<Record<string, string>>;
  timeline(message: MessageAt): Promise<readonly Entry[]>;
  close(): Promise<void>;
}

/** The step in which time passes while a test waits. */
const WAIT_MS = 1_000;

/** `port`: where every mail host listens. Loopback may be connected to, unless `config` says otherwise. */
export async function startLiveMx(port: number, config: Record<string, unknown> = {}): Promise<LiveMx> {
  const [postrider, dns] = await Promise.all([startHeldPostrider(), startFakeDns()]);
  const account = await liveAccount(postrider);
  const { connector_id } = await admin<{ connector_id: string }>(postrider, "/connectors", {
    kind: "mx",
    config: { port, allowed_ranges: ["127.0.0.0/8"], ca: mailTls.ca, ...config },
  });
  await admin(postrider, "/routes", { channel: "email", connector_ids: [connector_id] });
  await admin(postrider, "/settings/dns_servers", { value: dns.address }, "PUT");
  const domain = await admin<{ domain_id: string; records: { type: string; name: string; value: string }[] }>(
    postrider,
    "/domains",
    { account_id: account.accountId, domain: "acme.example" },
  );
  for (const { type, name, value } of domain.records) (type === "TXT" ? dns.txt : dns.cname).set(name, value);
  await admin(postrider, `/domains/${domain.domain_id}/verify`, {});
  dns.mx.set("example.net", ["10 mx.example.net"]);
  dns.a.set("mx.example.net", ["127.0.0.1"]);

  const timeline: LiveMx["timeline"] = async ({ path }) => {
    const id = path.split("/").at(-1);
    const at = `/messages/email/${id}/timeline?account_id=${account.accountId}`;
    return (await admin<{ data: readonly Entry[] }>(postrider, at)).data;
  };
  return {
    postrider,
    dns,
    async send(...to) {
      const { status, body } = await send(postrider, {
        apiKey: account.apiKey,
        path: "/v1/emails/messages",
        body: {
          from: { email: "hello@acme.example" },
          to: to.map((name) => ({ email: name.includes("@") ? name : `${name}@example.net` })),
          subject: "News",
          body_text: "All is well.",
        },
      });
      if (status !== 202) throw new Error(`${status} ${JSON.stringify(body)}`);
      return { path: `/v1/emails/messages/${body.message_id}`, apiKey: account.apiKey };
    },
    async firstError(message) {
      const firstCode = async () => {
        const code = (await timeline(message)).find(({ error }) => error !== undefined)?.error?.code;
        if (code === undefined) await postrider.pass(1);
        return code;
      };
      return String(await until(firstCode, Boolean, { pauseMs: 0 }));
    },
    async end(message, withinMs = 600_000) {
      let status = "";
      const isAtAnEnd = async () => {
        status = await postrider.status(message);
        // Between attempts nothing is under way that the passing time could cut short.
        if (status === "queued") postrider.leap(WAIT_MS);
        return ["sent", "delivered", "bounced", "failed"].includes(status);
      };
      await postrider.passUntil(isAtAnEnd, withinMs);
      return status;
    },
    async recipients(message) {
      const entries = (await timeline(message)).filter(({ recipient }) => recipient !== undefined);
      return Object.fromEntries(entries.map(({ recipient, status }) => [recipient?.split("@")[0], status]));
    },
    timeline,
    async close() {
      dns.close();
      await postrider.close();
    },
  };
}
