/** Somebody signs up numbers that cost us money: the account's limits hold, after a kill -9 too. */
import { afterAll, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { admin, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { makeDataFolder, startPostrider } from "../postrider-process.ts";

const LATER = fileURLToPath(new URL("../fakes/later.ts", import.meta.url));

onBothStores(() => {
  const folder = makeDataFolder();
  afterAll(folder.remove);

  const PREMIUM = "+881800000001";
  const TEMPLATE = "1107160000000000001";

  /** At noon, whenever the test runs: a day does not end in the middle of it. */
  function atNoon() {
    const now = Date.now();
    const env = { AHEAD_MS: String(new Date(now).setUTCHours(12, 0, 0, 0) - now) };
    return { dataFolder: folder.path, preload: LATER, env };
  }

  test("limits count what was accepted before a kill -9, batches whole, and refuse with their names", async () => {
    const options = atNoon();
    let service = await startPostrider(options);
    const { account_id: account } = service.sandbox;
    const limits = { daily_message_limit: 5, recipient_daily_limit: 2, allowed_destinations: "91,1" };
    await admin(service, `/settings?account_id=${account}`, limits, "PUT");
    const ask = async (to: string | string[]) => {
      const body = { to, dlt_template_id: TEMPLATE };
      const answer = await send(service, { apiKey: service.sandbox.api_key, path: "/v1/sms/messages", body });
      return { status: answer.status, text: JSON.stringify(answer.body) };
    };
    const numbers = (count: number) =>
      Array.from({ length: count }, (_, index) => `+9198123450${10 + index}`);

    expect((await ask(numbers(3))).status).toBe(202);
    service.kill("SIGKILL");
    await service.exited;
    service = await startPostrider(options);

    const tooMany = await ask(numbers(3));
    expect(tooMany.status).toBe(429);
    expect(tooMany.text).toContain("5 messages a day, 3 of them taken today (daily_message_limit)");
    expect((await ask(numbers(1))).status).toBe(202);
    const again = await ask(numbers(1));
    expect(again.status).toBe(429);
    expect(again.text).toContain("(recipient_daily_limit)");
    const elsewhere = await ask(PREMIUM);
    expect(elsewhere.status).toBe(400);
    expect(elsewhere.text).toContain("(allowed_destinations)");
    service.kill("SIGTERM");
    await service.exited;
  }, 180_000);
});
