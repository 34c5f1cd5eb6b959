/** A proxy publishes some paths and keeps the others from strangers. It judges them as they are sent. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { dial } from "../fakes/raw-client.ts";
import { type PostriderProcess, startPostrider } from "../postrider-process.ts";

let service: PostriderProcess;

beforeAll(async () => {
  service = await startPostrider({ args: ["--listeners", "2"] });
});

afterAll(async () => {
  service.kill("SIGKILL");
  await service.exited;
});

const PUBLISHED = /^\/(?:v1|receipts|unsubscribe)\//;

/** Prefixes of which the runtime's `Request.url` keeps nothing, and what a proxy makes of them is under `/v1/` or nowhere. */
const DETOURS = ["/v1/..", "/v1/%2e%2E", "/v1/x\\..\\..", "/v1/x/../..", "/.", "http://other/v1/.."];

async function statusOf(target: string): Promise<string> {
  const wire = await dial(Number(new URL(service.url).port));
  wire.socket.write(
    `GET ${target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.sandbox.admin_token}\r\nConnection: close\r\n\r\n`,
  );
  return (await wire.until()).slice("HTTP/1.1 ".length, "HTTP/1.1 200".length);
}

test("what is for operators is found at its own path, and by no detour", async () => {
  const description = await (await fetch(`${service.url}/openapi.json`)).json();
  const { paths } = description as { paths: Record<string, { get?: object }> };
  const described = Object.entries(paths).flatMap(([path, { get }]) => (get ? [path] : []));
  const forOperators = [...described, "/docs", "/docs/start.js", "/openapi.json"].filter(
    (path) => !PUBLISHED.test(path) && !path.includes("{"),
  );
  expect(forOperators).toContain("/metrics");
  expect(forOperators).toContain("/admin/v1/accounts");
  for (const path of forOperators) {
    expect([path, await statusOf(path)]).not.toEqual([path, "404"]);
    for (const detour of DETOURS)
      expect([detour, path, await statusOf(detour + path)]).toEqual([detour, path, "404"]);
  }
});
