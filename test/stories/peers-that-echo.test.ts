/** Providers and relays refuse us and repeat what we told them: nobody reads a password or a message in a log or a list. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { startFakeGateway } from "../fakes/fake-gateway.ts";
import { startRawSmtp } from "../fakes/fake-smtp.ts";
import { openLiveSms } from "../live-sms.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";

onBothStores(() => {
  const PASSWORD = "Passm0rd-81be22";
  const CODE = "481516";
  const NUMBER = "+14155559876";

  let folder: ReturnType<typeof makeDataFolder>;
  let service: PostriderProcess;
  beforeEach(async () => {
    folder = makeDataFolder();
    service = await startPostrider({ dataFolder: folder.path, env: { LOG_LEVEL: "debug" } });
  });
  afterEach(async () => {
    service.kill("SIGKILL");
    await service.exited;
    folder.remove();
  });

  const connect = async (kind: string, config: Record<string, unknown>) =>
    (await admin<{ connector_id: string }>(service, "/connectors", { kind, config })).connector_id;

  /** Nothing of what was told is in what the service prints and shows, in any of these forms. */
  const expectNothingTold = (texts: readonly string[]) => {
    const plain = Buffer.from(`\0ann\0${PASSWORD}`).toString("base64").slice(8, -4);
    for (const told of [PASSWORD, plain, CODE, NUMBER, NUMBER.slice(1), "Your code"]) {
      for (const text of texts) expect(text).not.toContain(told);
    }
  };

  const alarm = (connector: string) =>
    service.line(new RegExp(`"subject":"${connector}".*"alarm: connector_credentials_refused"`));

  test("a gateway that answers 401 with the whole request", async () => {
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
    const lines: string[] = [];
    const timelines: unknown[] = [];
    for (const connector of [inHeader, inQuery]) {
      const live = await openLiveSms(service, { connectors: [connector], body: "Your code: {{1}}" });
      const message = await live.send(NUMBER, { variables: { 1: CODE } });
      lines.push(await alarm(connector));
      timelines.push(await live.timeline(message));
    }
    for (const line of lines) expect(line).toContain("denied: ");
    const shown = [await admin(service, "/connectors"), await admin(service, "/alarms"), timelines];
    expectNothingTold([...shown.map((each) => JSON.stringify(each)), logOf(service)]);
    await gateway.close();
  });

  test("a relay that repeats the command by which we log in", async () => {
    const relay = await startRawSmtp((verb, line) => {
      if (verb === "EHLO") return "250-relay.test\r\n250 AUTH PLAIN";
      return verb === "AUTH" ? `535 5.7.8 wrong: ${line}` : undefined;
    });
    const { host, port } = relay;
    const connector = await connect("smtp", { host, port, tls: "none", username: "ann", password: PASSWORD });
    const line = await service.line(new RegExp(`"connector":"${connector}".*"connector is down"`));
    expect(line).toContain("535 wrong: AUTH PLAIN");
    const tested = await admin(service, `/connectors/${connector}/test`, {});
    const shown = [await admin(service, "/connectors"), tested];
    expectNothingTold([...shown.map((each) => JSON.stringify(each)), logOf(service)]);
    await relay.close();
  });
});

/** What it printed, but for the greeting of the first start, which shows how to send a first message. */
function logOf(service: PostriderProcess): string {
  return service
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .join("\n");
}
