/** Probes and metrics on a port of their own: from the start to the end of a process, and while it stops. */
import { expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { startHeldPostrider } from "../held-postrider.ts";
import { startPostrider } from "../postrider-process.ts";

onBothStores(() => {
  test("probes and metrics are served at their own port and at the other one, and nothing else is at their own", async () => {
    const service = await startPostrider({ env: { METRICS_PORT: "0" } });
    const { metrics: url } = JSON.parse(await service.line(/"msg":"ready"/)) as { metrics: string };
    expect(url).toStartWith("http://127.0.0.1:");
    expect(url).not.toBe(service.url);
    for (const base of [url, service.url]) {
      expect(await (await fetch(`${base}/healthz`)).json()).toEqual({ status: "ok" });
      expect(await (await fetch(`${base}/readyz`)).json()).toEqual({ status: "ready" });
      expect(await (await fetch(`${base}/metrics`)).text()).toContain("postrider_database_up 1");
    }
    const headers = { Authorization: `Bearer ${service.sandbox.admin_token}` };
    for (const path of ["/admin/v1/accounts", "/console", "/openapi.json"]) {
      expect((await fetch(service.url + path, { headers })).status).toBe(200);
      expect((await fetch(url + path, { headers })).status).toBe(404);
    }
    service.kill("SIGTERM");
    expect(await service.exited).toBe(0);
    expect(await fetch(`${url}/healthz`).catch(({ code }) => code)).toBe("ECONNREFUSED");
  }, 120_000);

  test("while the process stops they say so, as at the other port", async () => {
    const service = await startHeldPostrider(undefined, { METRICS_PORT: "0" });
    service.stop();
    for (const base of [service.metricsUrl, service.url]) {
      const answer = await fetch(`${base}/readyz`);
      expect([answer.status, await answer.json()]).toEqual([
        503,
        { status: "not ready", problems: ["draining"] },
      ]);
      expect((await fetch(`${base}/healthz`)).status).toBe(200);
      expect(await (await fetch(`${base}/metrics`)).text()).toContain("postrider_http_requests_total");
    }
    await service.close();
  });
});
