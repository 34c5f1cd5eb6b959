import { expect, test } from "bun:test";
import type { NewMessage } from "../../../core/messages/accept-request.ts";
import { createWorld, DAY, SECOND, SMS } from "../../contract/world.contract.ts";
import { createSlowClock, LOOK_MS } from "../open-transaction.contract.ts";
import { openFresh } from "../postgres-world.contract.ts";

/** More than are examined in one call. */
const QUEUES = 2_001;

for (const lookMs of [0, LOOK_MS])
  test(`what is overdue is found, however many queues with nothing to expire stand before it, where looks take ${lookMs} ms`, async () => {
    const clockOfStore = createSlowClock();
    const { store } = await openFresh({ clock: clockOfStore });
    const { account, clock, id, status } = await createWorld(store);
    const messages = Array.from(
      { length: QUEUES },
      (_, at): NewMessage => ({
        id: id(),
        recipient: `+91${at}`,
        status: "queued",
        parts: [],
        expiresAt: clock.now + (at === QUEUES - 1 ? SECOND : DAY),
        jobs: [{ queue: `queue-${String(at).padStart(4, "0")}` }],
      }),
    );
    await store.intake.accept({ accountId: account.id, flow: "single", content: SMS, messages });
    clockOfStore.lookMs = lookMs;
    const moved = [];
    for (let call = 0; call < 4; call++) moved.push(await store.queue.expire(clock.now + SECOND, 10));
    expect(moved).toEqual([0, 1, 0, 0]);
    expect(await status(messages.at(-1)!.id)).toBe("expired");
    await store.close();
  });
