/** Every magic number and address does what docs/sandbox.md says. All are sent at once; each test waits for its own. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { admin, reached, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { startHeldPostrider } from "../held-postrider.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";

onBothStores(() => {
  const NUMBERS: readonly (readonly [ending: string, what: string, status: string])[] = [
    ["1", "is undelivered", "undelivered"],
    ["2", "is rejected", "failed"],
    ["3", "is throttled three times and then delivered", "delivered"],
    ["4", "is sent, and no receipt comes", "sent"],
    ["5", "is never accepted, and expires", "expired"],
    ["6", "is answered after five seconds and delivered", "delivered"],
  ];
  const STEMS = ["+1500555000", "+91900000000"];
  const OTHER_NUMBER = "+919812345678";

  const ADDRESSES: readonly (readonly [address: string, what: string, status: string])[] = [
    ["bounce@example.com", "bounces", "bounced"],
    ["Reject@example.org", "is refused", "failed"],
    ["defer+run42@example.net", "is put off three times and then delivered", "delivered"],
    ["noreceipt@example.com", "is sent, and no receipt comes", "sent"],
    ["slow@example.com", "is answered after five seconds and delivered", "delivered"],
    ["asha@example.com", "is delivered", "delivered"],
  ];

  const folder = makeDataFolder();
  let service: PostriderProcess;
  /** The path of each recipient's message. */
  const sent = new Map<string, string>();

  beforeAll(async () => {
    service = await startPostrider({ dataFolder: folder.path });
    const numbers = STEMS.flatMap((stem) => NUMBERS.map(([ending]) => stem + ending));
    await Promise.all([
      ...numbers.map((to) => post(to, "/v1/sms/messages", sms(to))),
      ...ADDRESSES.map(([to]) => post(to, "/v1/emails/messages", email(to))),
    ]);
  });

  afterAll(async () => {
    service.kill("SIGTERM");
    expect(await service.exited).toBe(0);
    folder.remove();
  });

  const sms = (to: string) => ({
    to,
    dlt_template_id: "1107160000000000001",
    expire_after_seconds: to.endsWith("5") ? 5 : 60,
  });

  const email = (to: string) => ({
    from: { email: "hello@example.com" },
    to: [{ email: to }],
    subject: "Story",
    body_text: "Once upon a time.",
  });

  async function post(to: string, path: string, body: unknown): Promise<void> {
    const answer = await send(service, { apiKey: service.sandbox.api_key, path, body });
    expect(answer.status).toBe(202);
    sent.set(to, `${path}/${answer.body.message_id}`);
  }

  /** Fails with the status it comes to where that is another. */
  async function comesTo(to: string, status: string): Promise<void> {
    const path = sent.get(to)!;
    const ends = ["delivered", "undelivered", "failed", "expired", "bounced"];
    const apiKey = service.sandbox.api_key;
    expect((await reached(service, { apiKey, path }, status, ...ends)).status).toBe(status);
  }

  const accepted = async (to: string) =>
    (await admin<{ data: unknown[] }>(service, `/sandbox/messages?to=${encodeURIComponent(to)}`)).data.length;

  const isTaken = (status: string) => ["delivered", "undelivered", "bounced", "sent"].includes(status);

  describe("numbers", () => {
    for (const stem of STEMS) {
      for (const [ending, what, status] of NUMBERS) {
        test(`${stem}${ending} ${what}`, async () => {
          await comesTo(stem + ending, status);
          expect(await accepted(stem + ending)).toBe(isTaken(status) ? 1 : 0);
        });
      }
    }

    test("every other number is delivered within a second", async () => {
      const held = await startHeldPostrider();
      const { api_key: apiKey } = held.sandbox;
      const path = "/v1/sms/messages";
      const { body } = await send(held, { apiKey, path, body: sms(OTHER_NUMBER) });
      const message = { apiKey, path: `${path}/${body.message_id}` };
      const isDelivered = async () => (await held.status(message)) === "delivered";
      expect(await held.passUntil(isDelivered, 10_000)).toBeLessThanOrEqual(1_000);
      await held.close();
    });
  });

  describe("addresses", () => {
    for (const [address, what, status] of ADDRESSES) {
      test(`${address} ${what}`, async () => {
        await comesTo(address, status);
        expect(await accepted(address)).toBe(isTaken(status) ? 1 : 0);
      });
    }

    test("of several recipients each has its own outcome, and a deferred one holds nobody up", async () => {
      const to = ["bounce@example.com", "defer@example.com", "asha@example.com"].map((each) => ({
        email: each,
      }));
      await post("three", "/v1/emails/messages", { ...email(""), to });
      await comesTo("three", "bounced");
      const id = sent.get("three")!.split("/").at(-1);
      const { data } = await admin<{ data: { to: string }[] }>(service, `/sandbox/messages?message_id=${id}`);
      expect(data.map((entry) => entry.to).toSorted()).toEqual(to.map((each) => each.email).toSorted());
      expect(data.at(-1)?.to).toBe("defer@example.com");
    });
  });
});
