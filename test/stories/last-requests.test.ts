/** Requests that come while a process stops, as a proxy sends them that has not learned of it yet. */
import { expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { startHeldPostrider } from "../held-postrider.ts";

onBothStores(() => {
  test("are accepted for a moment more, each the last on its connection, while /readyz turns others away", async () => {
    const held = await startHeldPostrider();
    const { url, sandbox } = held;
    held.stop();
    const answer = await fetch(`${url}/v1/sms/messages`, {
      method: "POST",
      headers: { Authorization: `Bearer ${sandbox.api_key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ to: "+919876543210", dlt_template_id: "1107160000000000001" }),
    });
    expect([answer.status, answer.headers.get("Connection")]).toEqual([202, "close"]);
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { status: "not ready", problems: ["draining"] },
    ]);
    await held.close();
    expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });
});
