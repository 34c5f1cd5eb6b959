import { expect, test } from "bun:test";
import { createGate } from "./gate.ts";

test("who comes before the parts are ready is told to come back, in the words of every refusal", async () => {
  const gate = createGate(() => "id-1");
  const knock = () => gate.fetch(new Request("http://127.0.0.1/readyz"), () => "");
  const early = await knock();
  expect(early.status).toBe(503);
  expect(await early.json()).toEqual({ code: 503, message: "service unavailable" });
  expect(early.headers.get("Retry-After")).toBe("1");
  expect(early.headers.get("X-Request-Id")).toBe("id-1");
  gate.open(async () => new Response("open"));
  expect(await (await knock()).text()).toBe("open");
});
