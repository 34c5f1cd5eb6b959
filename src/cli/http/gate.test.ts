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

test("nobody waits for a start that has failed", async () => {
  const { gate, knock } = setUp();
  const early = knock();
  gate.giveUp();
  await expectTurnedAway(await early);
  await expectTurnedAway(await knock());
});
