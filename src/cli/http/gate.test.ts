import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createGate } from "./gate.ts";

function setUp() {
  const clock = createHeldClock();
  const gate = createGate(clock, () => "id-1");
  return { clock, gate, knock: () => gate.fetch(new Request("http://127.0.0.1/readyz"), () => "") };
}

async function expectTurnedAway(answer: Response): Promise<void> {
  expect(answer.status).toBe(503);
  expect(await answer.json()).toEqual({ code: 503, message: "service unavailable" });
  expect(answer.headers.get("Retry-After")).toBe("1");
  expect(answer.headers.get("X-Request-Id")).toBe("id-1");
}

test("who comes before the parts are ready waits for them, and is answered", async () => {
  const { gate, knock } = setUp();
  const early = knock();
  gate.open(async () => new Response("open"));
  expect(await (await early).text()).toBe("open");
  expect(await (await knock()).text()).toBe("open");
});

test("who has waited for five seconds is told to come back, in the words of every refusal", async () => {
  const { clock, gate, knock } = setUp();
  const early = knock();
  await clock.advance(4_999);
  const late = knock();
  await clock.advance(1);
  await expectTurnedAway(await early);
  gate.open(async () => new Response("open"));
  expect(await (await late).text()).toBe("open");
});

test("a page's preflight of a push endpoint goes well before the start, and it may read that it is to come back", async () => {
  const { gate } = setUp();
  gate.giveUp();
  const url = "http://127.0.0.1/v1/push/register";
  const ask = (method: string) => gate.fetch(new Request(url, { method }), () => "");
  const [preflight, answer] = [await ask("OPTIONS"), await ask("POST")];
  expect([preflight.status, preflight.headers.get("Access-Control-Allow-Methods")]).toEqual([
    204,
    "POST, OPTIONS",
  ]);
  await expectTurnedAway(answer);
  for (const { headers } of [preflight, answer]) expect(headers.get("Access-Control-Allow-Origin")).toBe("*");
  expect(answer.headers.get("Access-Control-Expose-Headers")).toContain("Retry-After");
});

test("nobody waits for a start that has failed", async () => {
  const { gate, knock } = setUp();
  const early = knock();
  gate.giveUp();
  await expectTurnedAway(await early);
  await expectTurnedAway(await knock());
});
