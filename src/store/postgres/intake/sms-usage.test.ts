import { expect, test } from "bun:test";
import { createWorld, DAY, QUEUE } from "../../contract/world.contract.ts";
import { behindProxy } from "../postgres-world.contract.ts";

test("requests of an account with limits take three round trips however many come together, since its others wait", () =>
  behindProxy(async ({ far, proxy }) => {
    const { account, clock, id, key } = await createWorld(far);
    const accept = (name: string) => {
      const message = { id: id(), recipient: `+91${name}`, status: "queued", parts: [] } as const;
      const limits = { daily_message_limit: 99, recipient_daily_limit: 9 };
      return far.intake.accept({
        accountId: account.id,
        flow: "single",
        content: { channel: "sms", text: "hi" },
        messages: [{ ...message, expiresAt: clock.now + DAY, jobs: [{ queue: QUEUE }] }],
        idempotency: { ...key(name), answer: { status: 202, body: "" } },
        limited: { limits, now: clock.now, segments: 1 },
      });
    };
    const costs = [];
    // The first meets the queue, and the connection.
    for (const count of [1, 1, 20]) {
      const before = proxy.roundTrips();
      const answers = await Promise.all(
        Array.from({ length: count }, (_, at) => accept(`${costs.length}${at}`)),
      );
      expect(answers.map(({ kind }) => kind)).toEqual(answers.map(() => "accepted"));
      costs.push(proxy.roundTrips() - before);
    }
    expect(costs.slice(1)).toEqual([3, 3]);
  }));
