import { expect, test } from "bun:test";
import { createServer } from "node:net";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { keptPort } from "../../../test/fakes/kept-port.ts";
import { dial } from "../../../test/fakes/raw-client.ts";
import { testTls } from "../../../test/fakes/test-tls.ts";
import { type Config, readConfig } from "../config.ts";
import { createSystemClock } from "../system-clock.ts";
import { createGate } from "./gate.ts";
import { ListenFailure, listenProblem } from "./listen.ts";
import { openPorts } from "./open-ports.ts";

const ids = () => "id-1";

function configOf(env: Record<string, string>): Config {
  const result = readConfig({ PORT: "0", METRICS_PORT: "0", ...env });
  if ("problems" in result) throw new Error(result.problems.join());
  return result.config;
}

/** Both ports, of a process whose parts are not ready before `gate` is opened. */
async function open() {
  const clock = createHeldClock();
  const gate = createGate(clock, ids);
  const { listener, metricsListener } = await openPorts({ config: configOf({}), clock, ids }, gate.fetch);
  const url = metricsListener?.url ?? "";
  return {
    gate,
    url,
    mainUrl: listener.url,
    async [Symbol.asyncDispose]() {
      const stopping = Promise.all([listener.stop(), metricsListener?.stop()]);
      await clock.advance(1_000);
      await stopping;
    },
  };
}

test("without a port for metrics only one is opened", async () => {
  const clock = createHeldClock();
  const config = configOf({ METRICS_PORT: "" });
  const { listener, metricsListener } = await openPorts({ config, clock, ids }, async () => new Response());
  expect(metricsListener).toBeUndefined();
  const stopping = listener.stop();
  await clock.advance(1_000);
  await stopping;
});

test("a probe that comes before the process is ready waits at either port, and is answered as soon as it is", async () => {
  await using ports = await open();
  const early = [ports.url, ports.mainUrl].map((url) => fetch(`${url}/readyz`));
  // What is not served there is refused at once.
  expect((await fetch(`${ports.url}/v1/sms/messages`, { method: "POST" })).status).toBe(404);
  ports.gate.open(async ({ url }) => new Response(new URL(url).pathname));
  for (const answer of early) expect(await (await answer).text()).toBe("/readyz");
});

test("with a certificate it speaks HTTPS, as the other port does", async () => {
  const clock = createHeldClock();
  const { cert, key, ca } = testTls;
  const config = { ...configOf({}), tls: { cert, key } };
  const { listener, metricsListener } = await openPorts(
    { config, clock, ids },
    async () => new Response("ok"),
  );
  const url = `${metricsListener?.url}/healthz`;
  expect(await (await fetch(url, { tls: { ca } })).text()).toBe("ok");
  const stopping = Promise.all([listener.stop(), metricsListener?.stop()]);
  await clock.advance(1_000);
  await stopping;
});

test("nothing else is served there, by whatever path it is asked for", async () => {
  await using ports = await open();
  ports.gate.open(async () => new Response("served"));
  const statusOf = async (target: string, method = "GET") => {
    const wire = await dial(Number(new URL(ports.url).port));
    wire.socket.write(`${method} ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    return (await wire.until()).slice("HTTP/1.1 ".length, "HTTP/1.1 200".length);
  };
  for (const path of ["/healthz", "/readyz", "/metrics", "/metrics?x=1"])
    expect([path, await statusOf(path)]).toEqual([path, "200"]);
  const others = [
    "/",
    "/v1/inbound",
    "/admin/v1/accounts",
    "/console",
    "/docs",
    "/openapi.json",
    "/metrics/x",
  ];
  for (const path of [...others, "/v1/../metrics", "/x\\..\\metrics", "/%6detrics"])
    expect([path, await statusOf(path)]).toEqual([path, "404"]);
  const answer = await fetch(`${ports.url}/console`);
  expect([answer.headers.get("X-Request-Id"), await answer.json()]).toEqual([
    "id-1",
    { code: 404, message: "not found" },
  ]);
});

test.each([
  ["PORT", "METRICS_PORT", "(HOST, PORT)"],
  ["METRICS_PORT", "PORT", "(METRICS_HOST, METRICS_PORT)"],
])("if %s is taken, the words name its variables, and %s stays free", async (name, other, names) => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as { port: number };
  const free = await keptPort();
  const config = configOf({ [name]: String(port), [other]: String(free) });
  const opening = openPorts({ config, clock: createSystemClock(), ids }, async () => new Response());
  expect(await listenProblem(await failureOf(opening))).toContain(`port ${port} ${names}`);
  expect(await fetch(`http://127.0.0.1:${free}/`).catch(({ code }) => code)).toBe("ECONNREFUSED");
  taken.close();
});

async function failureOf(opening: Promise<unknown>): Promise<ListenFailure> {
  const failure = await opening.catch((error) => error);
  expect(failure).toBeInstanceOf(ListenFailure);
  return failure as ListenFailure;
}

test("an address for metrics that is none of this machine's is said to be that, under its name", async () => {
  const config = configOf({ METRICS_HOST: "nowhere.invalid" });
  const opening = openPorts({ config, clock: createSystemClock(), ids }, async () => new Response());
  const failure = await failureOf(opening);
  expect(await listenProblem(failure)).toStartWith('METRICS_HOST is "nowhere.invalid", and that leads to no');
});
