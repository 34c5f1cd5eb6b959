/** Providers and relays refuse us and repeat what we told them: nobody reads a password or a message in a log or a list. */
import { expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { startFakeGateway } from "../fakes/fake-gateway.ts";
import { startRawSmtp } from "../fakes/fake-smtp.ts";
import { openLiveSms } from "../live-sms.ts";
import { ownProcess } from "../one-process.ts";
import type { PostriderProcess } from "../postrider-process.ts";

const PASSWORD = "Passm0rd-81be22";
const CODE = "481516";
const NUMBER = "+14155559876";

/** Of a test: those of both stores start side by side. */
const LIMIT_MS = 180_000;

/** A service that says all it can. */
async function openWorld(store: "sqlite" | "postgres") {
  const own = ownProcess(store);
  const service = await own.start({ env: { LOG_LEVEL: "debug" } });
  const connect = async (kind: string, config: Record<string, unknown>) =>
    (await admin<{ connector_id: string }>(service, "/connectors", { kind, config })).connector_id;
  return { ...own, service, connect };
}

/** Nothing of what was told is in what the service prints and shows, in any of these forms. */
function expectNothingTold(service: PostriderProcess, shown: readonly unknown[]): void {
  const plain = Buffer.from(`\0ann\0${PASSWORD}`).toString("base64").slice(8, -4);
  const texts = [...shown.map((each) => JSON.stringify(each)), logOf(service)];
  for (const told of [PASSWORD, plain, CODE, NUMBER, NUMBER.slice(1), "Your code"]) {
    for (const text of texts) expect(text).not.toContain(told);
  }
}

onBothStores(
  (store) => {
    test(
      "a gateway that answers 401 with the whole request",
      async () => {
        await using world = await openWorld(store);
        const { service, connect } = world;
        const gateway = await startFakeGateway(({ path, query, headers, body }) => ({
          status: 401,
          body: `denied: ${headers.authorization} ${body} ${path} ${new URLSearchParams(query)}`,
        }));
        const inHeader = await connect("http", {
          provider: "custom",
          api_key: PASSWORD,
          gateway: {
            send: {
              url: gateway.url,
              auth: { kind: "bearer", value: "{{secret.api_key}}" },
              json: { to: "{{to}}", text: "{{text}}" },
            },
            answer: { id: { json: "/id" }, error_text: { match: "[\\s\\S]*" } },
          },
        });
        const inQuery = await connect("http", {
          provider: "kannel",
          base_url: gateway.url,
          username: "ann",
          password: PASSWORD,
        });
        const refusedBy = async (connector: string) => {
          const live = await openLiveSms(service, { connectors: [connector], body: "Your code: {{1}}" });
          const message = await live.send(NUMBER, { variables: { 1: CODE } });
          const alarm = new RegExp(`"subject":"${connector}".*"alarm: connector_credentials_refused"`);
          expect(await service.line(alarm)).toContain("denied: ");
          return live.timeline(message);
        };
        const timelines = await Promise.all([inHeader, inQuery].map(refusedBy));
        const shown = [await admin(service, "/connectors"), await admin(service, "/alarms"), timelines];
        expectNothingTold(service, shown);
        await gateway.close();
      },
      LIMIT_MS,
    );

    test(
      "a relay that repeats the command by which we log in",
      async () => {
        await using world = await openWorld(store);
        const { service, connect } = world;
        const relay = await startRawSmtp((verb, line) => {
          if (verb === "EHLO") return "250-relay.test\r\n250 AUTH PLAIN";
          return verb === "AUTH" ? `535 5.7.8 wrong: ${line}` : undefined;
        });
        const { host, port } = relay;
        const connector = await connect("smtp", {
          host,
          port,
          tls: "none",
          username: "ann",
          password: PASSWORD,
        });
        const line = await service.line(new RegExp(`"connector":"${connector}".*"connector is down"`));
        expect(line).toContain("535 wrong: AUTH PLAIN");
        const tested = await admin(service, `/connectors/${connector}/test`, {});
        const shown = [await admin(service, "/connectors"), tested];
        expectNothingTold(service, shown);
        await relay.close();
      },
      LIMIT_MS,
    );
  },
  { atOnce: true },
);

/** What it printed, but for the greeting of the first start, which shows how to send a first message. */
function logOf(service: PostriderProcess): string {
  return service
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .join("\n");
}
