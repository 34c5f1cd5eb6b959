/** One program, run in parts, behind TLS, behind a proxy. */
import { expect, test } from "bun:test";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { admin, reached, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { testTls } from "../fakes/test-tls.ts";
import { oneProcess } from "../one-process.ts";
import { type PostriderProcess, runPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

onBothStores((store) => {
  const PATH = "/v1/sms/messages";
  const SMS = { to: "+919812345678", dlt_template_id: "1107160000000000001" };

  const { folder, start, stop } = oneProcess();

  test("with --roles api messages are accepted and not delivered; a full start delivers them", async () => {
    const api = await start({ args: ["--roles", "api"] });
    const { api_key: apiKey } = api.sandbox;
    const { body } = await send(api, { apiKey, path: PATH, body: SMS });
    const message = { apiKey, path: `${PATH}/${body.message_id}` };
    // Changing the configuration here starts nothing either.
    const config = { host: "127.0.0.1", port: 9, system_id: "acme", password: "secret" };
    await admin(api, "/connectors", { kind: "smpp", name: "nobody", config });
    expect((await fetch(`${api.url}/readyz`)).status).toBe(200);
    const line = /^postrider_queue_ready\{queue="sandbox:sms"\} 1$/m;
    expect(await (await fetch(`${api.url}/metrics`)).text()).toMatch(line);
    expect(await reached(api, message, "queued", "sending", "delivered")).toMatchObject({ status: "queued" });
    await stop();

    const full = await start();
    expect(await reached(full, message, "delivered", "failed")).toMatchObject({ status: "delivered" });
  });

  test("a process that does not deliver does not say that there are no alarms, which only others would know of", async () => {
    const listAlarms = async (service: PostriderProcess) => {
      const args = ["list", "--url", service.url, "--token", service.sandbox.admin_token];
      return [
        await admin(service, "/alarms"),
        await runPostrider({ dataFolder: folder(), command: "alarms", args }),
      ];
    };
    const process = store === "postgres" ? { process: expect.any(String) } : {};
    expect(await listAlarms(await start({ args: ["--roles", "api"] }))).toEqual([
      { data: [], is_watching: false, ...process },
      expect.objectContaining({ code: 0, output: expect.stringContaining("watches for no alarms") }),
    ]);
    await stop();
    expect(await listAlarms(await start())).toEqual([
      { data: [], is_watching: true, ...process },
      expect.objectContaining({ code: 0, output: expect.not.stringContaining("watches") }),
    ]);
  });

  test("a process that delivers no webhooks does not say that no host is paused, which only others would know of", async () => {
    const listHosts = async (service: PostriderProcess) => {
      const args = ["hosts", "--url", service.url, "--token", service.sandbox.admin_token];
      return (await runPostrider({ dataFolder: folder(), command: "webhooks", args })).output;
    };
    expect(await listHosts(await start({ args: ["--roles", "api"] }))).toContain("delivers no webhooks");
    await stop();
    expect(await listHosts(await start())).not.toContain("delivers no webhooks");
  });

  test("where others may deliver too, a process says that the alarms it lists are its own", async () => {
    const service = await start();
    const { process } = await admin<{ process?: string }>(service, "/alarms");
    const args = ["list", "--url", service.url, "--token", service.sandbox.admin_token];
    const { output } = await runPostrider({ dataFolder: folder(), command: "alarms", args });
    const whose = `${hostname()}:${service.pid}`;
    if (store === "sqlite") {
      expect(process).toBeUndefined();
      expect(output).not.toContain(whose);
    } else {
      expect(process).toBe(whose);
      expect(output).toContain(`of ${whose}, the process that answers`);
    }
  });

  test("with --roles delivery,upkeep what an earlier process accepted is delivered", async () => {
    const api = await start({ args: ["--roles", "api"] });
    const { api_key: apiKey } = api.sandbox;
    const { body } = await send(api, { apiKey, path: PATH, body: SMS });
    await stop();
    const workers = await start({ args: ["--roles", "delivery,upkeep"] });
    expect((await send(workers, { apiKey, path: PATH, body: SMS })).status).toBe(404);
    const count = /^postrider_attempt_outcomes_total\{.*outcome="sent"\} 1$/m;
    await until(
      async () => (await fetch(`${workers.url}/metrics`)).text(),
      (text) => count.test(text),
    );
    await stop();
    const again = await start({ args: ["--roles", "api,upkeep"] });
    const message = { apiKey, path: `${PATH}/${body.message_id}` };
    const { status } = await reached(again, message, "sent", "delivered", "queued", "sending");
    expect(["sent", "delivered"]).toContain(status as string);
  }, 180_000);

  test("a first start without the role api names the account and the file of its keys, and prints nothing to ask itself for", async () => {
    const { sandbox, output, url } = await start({ args: ["--roles", "delivery,webhooks,upkeep"] });
    for (const asked of [sandbox.console_url, `${url}/docs`]) expect((await fetch(asked)).status).toBe(404);
    const printed = output()
      .split("\n")
      .filter((line) => !line.startsWith("{"))
      .join("\n");
    for (const said of [sandbox.account_id, join(folder(), "sandbox.json"), "role api"])
      expect(printed).toContain(said);
    for (const secret of [sandbox.api_key, sandbox.admin_token, sandbox.console_password])
      expect(printed).not.toContain(secret);
    expect(printed).not.toContain("curl");
    expect(printed).not.toContain(url);
    await stop();
    const answering = await start({ args: ["--roles", "api"] });
    expect((await send(answering, { apiKey: sandbox.api_key, path: PATH, body: SMS })).status).toBe(202);
  });

  test("which version runs is in the line `ready`, and among the metrics", async () => {
    const { output, url } = await start();
    expect(output()).toMatch(new RegExp(`"version":"${packageJson.version}".*"msg":"ready"`));
    const series = `postrider_build_info{version="${packageJson.version}"} 1\n`;
    expect(await (await fetch(`${url}/metrics`)).text()).toContain(series);
  });

  test("which roles a process has is among its metrics, so that one that nobody has is noticed", async () => {
    const rolesOf = async ({ url }: PostriderProcess) =>
      [...(await (await fetch(`${url}/metrics`)).text()).matchAll(/^postrider_role\{role="(\w+)"\} 1$/gm)]
        .map(([, role]) => role)
        .toSorted();
    expect(await rolesOf(await start({ args: ["--roles", "delivery,webhooks"] }))).toEqual([
      "delivery",
      "webhooks",
    ]);
    await stop();
    expect(await rolesOf(await start())).toEqual(["api", "delivery", "upkeep", "webhooks"]);
  });

  test("the line `ready` says where bounces are received, which a process without the role api does not do", async () => {
    const env = { BOUNCE_PORT: "0" };
    const readyOf = ({ output }: PostriderProcess) =>
      JSON.parse(/^.*"msg":"ready".*$/m.exec(output())?.[0] ?? "{}") as { bounces?: string };
    const { bounces } = readyOf(await start({ env, args: ["--roles", "api"] }));
    expect(bounces).toMatch(/^127\.0\.0\.1:[1-9]\d*$/);
    expect(await greetingOf(bounces!)).toStartWith("220 ");
    await stop();
    expect(readyOf(await start({ env, args: ["--roles", "delivery"] }))).not.toHaveProperty("bounces");
  });

  test("with TLS_CERT and TLS_KEY it serves HTTPS, and nothing in the clear", async () => {
    const [cert, key] = [join(folder(), "cert.pem"), join(folder(), "key.pem")];
    writeFileSync(cert, testTls.cert);
    writeFileSync(key, testTls.key);
    const { url, sandbox } = await start({ env: { TLS_CERT: cert, TLS_KEY: key } });
    expect(url).toStartWith("https://");
    expect(sandbox.base_url).toBe(url);
    const response = await fetch(url + PATH, {
      method: "POST",
      headers: { Authorization: `Bearer ${sandbox.api_key}`, "Content-Type": "application/json" },
      body: JSON.stringify(SMS),
      tls: { ca: testTls.ca },
    });
    expect(response.status).toBe(202);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    await expect(fetch(`http:${url.slice("https:".length)}/healthz`)).rejects.toThrow();
  });

  const BURST = 3;

  /** Registers from a client address as a proxy would write it; the statuses of `count` requests. */
  async function register(to: PostriderProcess, forwardedFor: string, count: number): Promise<number[]> {
    const { account_id, push_app_id: app_id } = to.sandbox;
    const ask = async (_: unknown, n: number) => {
      const response = await fetch(`${to.url}/v1/push/register`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Forwarded-For": forwardedFor },
        body: JSON.stringify({ account_id, app_id, platform: "fcm", token: `${forwardedFor}-${n}` }),
      });
      if (response.status === 429) expect(response.headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
      return response.status;
    };
    // At once: a client gains one more with every second that passes.
    return Promise.all(Array.from({ length: count }, ask));
  }

  /** One request a second, after the burst. */
  async function limitPush(to: PostriderProcess): Promise<void> {
    await admin(to, "/settings/push_rate_burst", { value: String(BURST) }, "PUT");
    await admin(to, "/settings/push_rate_limit", { value: "1" }, "PUT");
  }

  function expectBurst(statuses: readonly number[]): void {
    expect(statuses.filter((status) => status === 201).length).toBeGreaterThanOrEqual(BURST);
    expect(statuses).toContain(429);
  }

  test("behind a trusted proxy each client has a rate of its own, and cannot claim another's address", async () => {
    const proxied = await start({ env: { TRUSTED_PROXIES: "127.0.0.1, 10.0.0.0/8" } });
    await limitPush(proxied);
    for (const client of ["203.0.113.8", "198.51.100.1, 203.0.113.9, 10.1.2.3", "203.0.113.7"]) {
      expectBurst(await register(proxied, client, 2 * BURST));
    }
    // With a rate of its own it would be taken whole.
    expect(await register(proxied, "192.0.2.55, 203.0.113.7", BURST)).toContain(429);
  });

  test("without a trusted proxy what a client says of its address counts for nothing", async () => {
    const direct = await start();
    await limitPush(direct);
    const clients = Array.from({ length: 2 * BURST }, (_, n) => register(direct, `203.0.113.${n}`, 1));
    expectBurst((await Promise.all(clients)).flat());
  });
});

/** What an SMTP server says first. */
async function greetingOf(place: string): Promise<string> {
  const { hostname, port } = new URL(`smtp://${place}`);
  const socket = connect(Number(port), hostname);
  const [greeting] = await once(socket, "data");
  socket.destroy();
  return String(greeting);
}
