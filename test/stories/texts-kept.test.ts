/** What a message says is stored for as long as an attempt may need it, or as long as the message, if its account wants that. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type HeldPostrider, type MessageAt, startHeldPostrider } from "../held-postrider.ts";
import { storedRows } from "../stored-rows.ts";

onBothStores((store) => {
  /** Upkeep wipes what batches say in rounds of this length. */
  const ROUND_MS = 30_000;

  let postrider: HeldPostrider;

  beforeEach(async () => {
    postrider = await startHeldPostrider();
  });

  afterEach(() => postrider.close());

  /** Sends an email, an SMS, and an SMS to two numbers, from a new sandbox account; resolves when all are delivered. */
  async function sendAll(keepsBodies: boolean, says: string): Promise<void> {
    const { account_id } = await admin(postrider, "/accounts", { name: says, mode: "sandbox" });
    await admin(postrider, `/settings/keep_bodies?account_id=${account_id}`, { value: keepsBodies }, "PUT");
    const { api_key: apiKey } = await admin<{ api_key: string }>(postrider, "/keys", { account_id });
    const template = { account_id, name: "greeting", body: says };
    const { template_id } = await admin(postrider, "/sms-templates", template);
    const requests = [
      { path: "/v1/sms/messages", body: { to: "+14155551101", template_id } },
      { path: "/v1/sms/messages", body: { to: ["+14155551102", "+14155551103"], template_id } },
      {
        path: "/v1/emails/messages",
        body: {
          from: { email: "shop@acme.example" },
          to: [{ email: "ann@example.net" }],
          subject: "Hello",
          body_text: says,
        },
      },
    ];
    for (const { path, body } of requests) {
      const answer = await send(postrider, { apiKey, path, body });
      expect(answer.status).toBe(202);
      for (const message of messagesOf(answer.body, { path, apiKey }))
        await postrider.reached(message, "delivered");
    }
  }

  function messagesOf(answer: Readonly<Record<string, unknown>>, { path, apiKey }: MessageAt): MessageAt[] {
    const { message_id, messages } = answer as {
      message_id?: string;
      messages?: readonly { message_id: string }[];
    };
    const ids = messages?.map((each) => each.message_id) ?? [message_id];
    return ids.map((id) => ({ path: `${path}/${id}`, apiKey }));
  }

  /** How many stored texts hold these words. On SQLite, those of single messages are in the rows of the messages. */
  async function countOf(words: string): Promise<number> {
    const tables = store === "sqlite" ? ["contents", "messages"] : ["contents"];
    const counts = tables.map((table) => `(SELECT count(*) FROM ${table} WHERE body LIKE '%${words}%')`);
    const [row] = await storedRows<{ texts: number }>(
      postrider.dataFolder,
      `SELECT ${counts.join("+")} AS texts`,
    );
    return Number(row?.texts);
  }

  test("once no attempt can need it, what a message says is wiped, unless its account keeps it", async () => {
    await sendAll(false, "said once");
    await sendAll(true, "kept for long");
    await postrider.pass(2 * ROUND_MS);
    expect(await countOf("said once")).toBe(0);
    expect(await countOf("kept for long")).toBe(3);
  });
});
