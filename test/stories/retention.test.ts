/** What is kept, and for how long. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { databaseOf, onBothStores } from "../both-stores.ts";
import { type HeldPostrider, type MessageAt, startHeldPostrider } from "../held-postrider.ts";
import { storedRows } from "../stored-rows.ts";

onBothStores(() => {
  const HOUR_MS = 3_600_000;
  /** Upkeep prunes so often. */
  const ROUND_MS = 60_000;
  const DAY_MS = 24 * HOUR_MS;
  const PATH = "/v1/sms/messages";
  const DELIVERED = "+14155551101";
  /** The simulator never says more of it than that it was sent. */
  const NO_RECEIPT = "+15005550004";
  const ANSWERED_LATE = "+15005550006";

  let postrider: HeldPostrider;

  beforeEach(async () => {
    postrider = await startHeldPostrider();
  });

  afterEach(() => postrider.close());

  interface Answer {
    readonly isReplay: boolean;
    readonly message: MessageAt;
  }

  async function send(
    to: string,
    headers: Record<string, string> = {},
    over: Record<string, unknown> = { dlt_template_id: "1107160000000000001" },
  ): Promise<Answer> {
    const apiKey = postrider.sandbox.api_key;
    const response = await fetch(postrider.url + PATH, {
      method: "POST",
      headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json", ...headers },
      body: JSON.stringify({ to, ...over }),
    });
    expect(response.status).toBe(202);
    const { message_id } = (await response.json()) as { message_id: string };
    return {
      isReplay: response.headers.get("Idempotent-Replayed") === "true",
      message: { path: `${PATH}/${message_id}`, apiKey },
    };
  }

  /** Rows of everything that a message leaves in the database. */
  async function rowsLeft(): Promise<object> {
    const counts = Object.keys(NOTHING).map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`);
    const [row] = await storedRows<object>(postrider.dataFolder, `SELECT ${counts.join(", ")}`);
    return Object.fromEntries(Object.entries(row!).map(([table, count]) => [table, Number(count)]));
  }

  const NOTHING = { messages: 0, contents: 0, timeline: 0, jobs: 0, provider_ids: 0, sandbox_messages: 0 };

  /** SQLite deletes row by row, PostgreSQL drops days: the message's, and a day later what messages shared. */
  async function expectNothingLeft(): Promise<void> {
    if ((await databaseOf(postrider.dataFolder)) !== undefined) postrider.leap(2 * DAY_MS);
    for (let rounds = 0; rounds < 9 && !Bun.deepEquals(await rowsLeft(), NOTHING); rounds += 3) {
      await postrider.pass(3 * ROUND_MS);
    }
    expect(await rowsLeft()).toEqual(NOTHING);
  }

  test("seven days after its creation a message is not found, and then nothing of it is left", async () => {
    const createdAt = postrider.now();
    const { message } = await send(DELIVERED);
    await postrider.reached(message, "delivered");
    expect(await rowsLeft()).toMatchObject({ messages: 1 });

    postrider.leap(createdAt + 7 * DAY_MS - 3 * ROUND_MS - postrider.now());
    await postrider.pass(2 * ROUND_MS);
    postrider.leap(createdAt + 7 * DAY_MS - 1 - postrider.now());
    expect(await postrider.status(message)).toBe("delivered");
    postrider.leap(2);
    expect(await postrider.status(message)).toBe("404");
    await expectNothingLeft();
  });

  test("what became of a message that was scheduled for seven days later stays in the event feed for half a day, and goes within a day", async () => {
    // PostgreSQL deletes a day once it is over: here that is soon.
    postrider.leap(11.9 * HOUR_MS);
    const createdAt = postrider.now();
    const schedule_at = new Date(createdAt + 7 * DAY_MS - 30_000).toISOString();
    const { message } = await send(DELIVERED, {}, { dlt_template_id: "1107160000000000001", schedule_at });
    const told = async () => {
      const headers = { Authorization: `Bearer ${message.apiKey}` };
      const response = await fetch(`${postrider.url}/v1/events`, { headers });
      return ((await response.json()) as { data: { type: string }[] }).data.map(({ type }) => type);
    };
    postrider.leap(7 * DAY_MS - 2 * ROUND_MS);
    await postrider.pass(4 * ROUND_MS);
    expect(await postrider.status(message)).toBe("404");
    postrider.leap(createdAt + 7 * DAY_MS + 11.5 * HOUR_MS - postrider.now());
    await postrider.pass(3 * ROUND_MS);
    expect(await told()).toEqual(["sms.sent", "sms.delivered"]);
    postrider.leap(12.5 * HOUR_MS);
    await postrider.passUntil(async () => (await told()).length === 0, 3 * ROUND_MS);
    expect(await rowsLeft()).toMatchObject({ messages: 0, timeline: 0 });
  });

  test("a message that never came to an end is not found after seven days, and its rows are gone on day 16", async () => {
    const { message } = await send(NO_RECEIPT);
    await postrider.reached(message, "sent");
    postrider.leap(7 * DAY_MS);
    expect(await postrider.status(message)).toBe("404");
    postrider.leap(8 * DAY_MS - HOUR_MS);
    await postrider.pass(130_000);
    expect(await rowsLeft()).toMatchObject({ messages: 1 });
    postrider.leap(HOUR_MS);
    postrider.leap(DAY_MS);
    await expectNothingLeft();
  });

  test("an idempotency key is a repeat for 24 hours, and new after them", async () => {
    const headers = { "Idempotency-Key": "order-1" };
    const first = await send(DELIVERED, headers);
    const acceptedAt = postrider.now();
    await postrider.reached(first.message, "delivered");
    postrider.leap(acceptedAt + DAY_MS - 1_000 - postrider.now());
    expect(await send(DELIVERED, headers)).toEqual({ ...first, isReplay: true });
    postrider.leap(1_000);
    const second = await send(DELIVERED, headers);
    expect(second.isReplay).toBe(false);
    expect(second.message.path).not.toBe(first.message.path);
    expect(await send(DELIVERED, headers)).toEqual({ ...second, isReplay: true });
  });

  test("a key goes with its answer after 24 hours, and a suppression when it has ended", async () => {
    await send(DELIVERED, { "Idempotency-Key": "order-1" });
    const [email, expires_at] = ["ann@example.net", new Date(postrider.now() + DAY_MS).toISOString()];
    await admin(postrider, "/suppressions", { account_id: postrider.sandbox.account_id, email, expires_at });
    const left = async () => ({
      keys: (await storedRows(postrider.dataFolder, "SELECT * FROM idempotency_keys")).length,
      suppressions: (await admin<{ data: readonly unknown[] }>(postrider, "/suppressions")).data.length,
    });
    postrider.leap(DAY_MS - 2 * ROUND_MS);
    await postrider.pass(ROUND_MS);
    expect(await left()).toEqual({ keys: 1, suppressions: 1 });
    postrider.leap(ROUND_MS);
    await postrider.passUntil(
      async () => Bun.deepEquals(await left(), { keys: 0, suppressions: 0 }),
      2 * ROUND_MS,
    );
  });

  test("a text is wiped once nothing can need it any more, and what the interface shows stays", async () => {
    const { template_id } = await admin<{ template_id: string }>(postrider, "/sms-templates", {
      account_id: postrider.sandbox.account_id,
      name: "story",
      body: "A word in confidence.",
    });
    const { message } = await send(ANSWERED_LATE, {}, { template_id });
    await postrider.reached(message, "sending");
    expect(await kept()).toContain("in confidence");
    await postrider.reached(message, "delivered");
    expect(await kept()).not.toContain("in confidence");
  });

  test("the text that the messages of a batch share is wiped once the last of them has come to its end", async () => {
    const { account_id, api_key } = postrider.sandbox;
    const template = { account_id, name: "story", body: "A word in confidence." };
    const { template_id } = await admin<{ template_id: string }>(postrider, "/sms-templates", template);
    const response = await fetch(postrider.url + PATH, {
      method: "POST",
      headers: { Authorization: `Bearer ${api_key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ to: [DELIVERED, ANSWERED_LATE], template_id }),
    });
    const { messages } = (await response.json()) as { messages: readonly { message_id: string }[] };
    const [first, last] = messages.map(({ message_id }) => ({
      path: `${PATH}/${message_id}`,
      apiKey: api_key,
    })) as [MessageAt, MessageAt];
    await postrider.reached(first, "delivered");
    expect(await postrider.status(last)).toBe("sending");
    expect(await kept()).toContain("in confidence");
    await postrider.reached(last, "delivered");
    await postrider.passUntil(async () => !(await kept()).includes("in confidence"), ROUND_MS);
  });

  test("what is asked to be erased is erased by itself, within seconds", async () => {
    const { message } = await send(DELIVERED);
    await postrider.reached(message, "delivered");
    const { id } = await admin<{ id: string }>(postrider, "/erasures", { recipient: DELIVERED });
    const isDone = async () =>
      (await admin<{ status: string }>(postrider, `/erasures/${id}`)).status === "done";
    await postrider.passUntil(isDone, 10_000);
    expect(await postrider.status(message)).toBe("404");
  });

  /** All that a message and its content are, wherever the text is. */
  async function kept(): Promise<string> {
    const tables = ["messages", "contents"].map((table) => `SELECT * FROM ${table}`);
    return JSON.stringify(await Promise.all(tables.map((sql) => storedRows(postrider.dataFolder, sql))));
  }
});
