/** So many clients are connected that the process may open no file and no connection more. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { reached } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { canLimitFiles, holdFreeFiles } from "../fakes/process-limits.ts";
import { dial, type Wire } from "../fakes/raw-client.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";

interface Asked {
  readonly end: RegExp;
  readonly body?: unknown;
}

const { CI } = process.env;
const testFiles = test.skipIf(!canLimitFiles && !CI); // skipped: this system cannot limit another process

onBothStores(() => {
  const folder = makeDataFolder();
  let service: PostriderProcess;

  beforeAll(async () => {
    service = await startPostrider({ dataFolder: folder.path });
  });

  afterAll(async () => {
    service.kill("SIGKILL");
    await service.exited;
    folder.remove();
  });

  /** A client whose connection is open and was used. */
  async function connected(): Promise<Wire> {
    const wire = await dial(Number(new URL(service.url).port));
    wire.socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await wire.until(/ok/);
    return wire;
  }

  /** Sends a request, the second on its connection, and resolves when `end` of its answer has come. The connection stays open. */
  async function ask(wire: Wire, request: string, { end, body }: Asked): Promise<string> {
    const json = body === undefined ? "" : JSON.stringify(body);
    const lines = [
      `${request} HTTP/1.1`,
      "Host: localhost",
      `Authorization: Bearer ${service.sandbox.api_key}`,
      `Content-Length: ${json.length}`,
    ];
    wire.socket.write(`${lines.join("\r\n")}\r\n\r\n${json}`);
    const all = await wire.until(new RegExp(`${end.source}|"code":`));
    return all.slice(all.lastIndexOf("HTTP/1.1 "));
  }

  testFiles(
    "those who are connected are served: a large email is accepted and delivered, and the metrics are shown",
    async () => {
      const wires = await Promise.all([connected(), connected(), connected()]);
      const [forMail, forMetrics, forSms] = wires as [Wire, Wire, Wire];
      const files = holdFreeFiles(service.pid);
      const path = "/v1/emails/messages";
      const mail = {
        from: { email: "hello@acme.example" },
        to: [{ email: "ann@example.net" }],
        subject: "News",
        body_text: "All is well. ".repeat(30_000),
      };
      const metrics = await ask(forMetrics, "GET /metrics", { end: /\nprocess_uptime_seconds \d/ });
      expect(metrics).toStartWith("HTTP/1.1 200");
      expect(metrics).toContain("\npostrider_connector_up{");
      const accepted = await ask(forMail, `POST ${path}`, { end: /created_at/, body: mail });
      expect(accepted).toStartWith("HTTP/1.1 202");
      const sms = { to: "+919812345678", dlt_template_id: "1107160000000000001" };
      const alike = await ask(forSms, "POST /v1/sms/messages", { end: /created_at/, body: sms });
      expect(alike).toStartWith("HTTP/1.1 202");
      files.letGo();

      for (const { socket } of wires) socket.destroy();
      const { message_id } = JSON.parse(accepted.slice(accepted.indexOf("{"))) as { message_id: string };
      const apiKey = service.sandbox.api_key;
      await reached(service, { apiKey, path: `${path}/${message_id}` }, "delivered");
    },
  );
});
