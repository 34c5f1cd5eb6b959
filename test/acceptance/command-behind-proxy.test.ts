/** Commands on a machine whose environment names an HTTP proxy: what goes to this machine holds keys, and stays on it. */
import { afterAll, expect, test } from "bun:test";
import { send } from "../admin.ts";
import { createSignals } from "../fakes/signals.ts";
import { startCommand } from "../postrider-process.ts";
import { typeBesideService } from "./typed-commands.ts";

const { spawned, dataFolder, service } = typeBesideService();
const signals = createSignals();
const heard = { byProxy: [] as string[], locally: [] as string[] };

const proxy = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch({ url }) {
    heard.byProxy.push(url);
    return new Response("", { status: 502 });
  },
});
const local = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    heard.locally.push(await request.text());
    signals.tell();
    return new Response("ok");
  },
});
const env = { HTTP_PROXY: proxy.url.href, http_proxy: proxy.url.href };

afterAll(() => Promise.all([proxy, local].map((server) => server.stop(true))));

test.each(["127.0.0.1", "localhost"])("the admin token for %s does not go over the proxy", async (host) => {
  const POSTRIDER_URL = service().url.replace("127.0.0.1", host);
  const { code, err } = await spawned(["accounts", "list"], { ...env, POSTRIDER_URL });
  expect({ code, err, byProxy: heard.byProxy }).toEqual({ code: 0, err: "", byProxy: [] });
});

test("the key of `listen` and what it forwards go to no proxy", async () => {
  const args = ["--forward-to", `http://localhost:${local.port}/hook`];
  const listening = startCommand({ command: "listen", dataFolder, args, env });
  await listening.line(/^listening to /);
  const body = { to: "+919876543210", dlt_template_id: "1", variables: { 1: "x" } };
  await send(service(), { apiKey: service().sandbox.api_key, path: "/v1/sms/messages", body });
  await signals.until(() => heard.locally.length > 0);
  listening.kill("SIGTERM");
  expect(await listening.exited).toBe(0);
  expect(heard.byProxy).toEqual([]);
});

test("a server elsewhere is reached over the proxy, as is usual", async () => {
  const POSTRIDER_URL = "http://postrider.example:8080";
  const { code } = await spawned(["accounts", "list"], { ...env, POSTRIDER_URL });
  expect(code).toBe(1);
  expect(heard.byProxy).toEqual([`${POSTRIDER_URL}/admin/v1/accounts`]);
});
