/** What a sandbox account has accepted stays with the simulator when the account goes live. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type HeldPostrider, type MessageAt, startHeldPostrider } from "../held-postrider.ts";

onBothStores(() => {
  const HOUR_MS = 3_600_000;

  let postrider: HeldPostrider;

  beforeEach(async () => {
    postrider = await startHeldPostrider();
  });

  afterEach(() => postrider.close());

  async function mail(to: string, over: Record<string, unknown> = {}): Promise<MessageAt> {
    const { account_id: _, api_key: apiKey } = postrider.sandbox;
    const from = { email: "shop@not-registered.example" };
    const body = { from, to: [{ email: to }], subject: "News", body_text: "All is well.", ...over };
    const answer = await send(postrider, { apiKey, path: "/v1/emails/messages", body });
    expect(answer.status).toBe(202);
    return { apiKey, path: `/v1/emails/messages/${answer.body.message_id}` };
  }

  test("a mail scheduled in the sandbox ends as the simulator says, though its domain is not verified", async () => {
    const schedule_at = new Date(postrider.now() + HOUR_MS).toISOString();
    const delivered = await mail("ann@example.net", { schedule_at });
    const bounced = await mail("bounce@example.net", { schedule_at });
    const { account_id } = postrider.sandbox;
    await admin(postrider, `/accounts/${account_id}`, { mode: "live" }, "PATCH");
    postrider.leap(HOUR_MS);
    expect(await postrider.reached(delivered, "delivered", "failed")).toBe("delivered");
    expect(await postrider.reached(bounced, "bounced", "failed")).toBe("bounced");
  });
});
