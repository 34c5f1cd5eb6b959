import { expect, test } from "bun:test";
import { join } from "node:path";
import { CALLBACK, settleWebhook, states, take } from "../../contract/webhooks/outbox.contract.ts";
import { createWorld, HOUR, SECOND } from "../../contract/world.contract.ts";
import { inFolder, openWithDriver } from "../sqlite-world.contract.ts";

test("after a restart an event whose delivery was interrupted is due at once; one that waits for its next try keeps its time", () =>
  inFolder(async (folder) => {
    const path = join(folder, "p.db");
    const first = await openWithDriver(path);
    const world = { ...(await createWorld(first.store)), inside: first.inside };
    const [waiting = "", interrupted = ""] = await world.sms({ to: ["+911", "+912"], content: CALLBACK });
    for (const job of await world.claim()) await world.settle(job);
    const [event] = await take(world, 1);
    const nextAt = world.clock.now + HOUR;
    await settleWebhook(world, event!, { kind: "again", at: nextAt });
    expect(await take(world)).toHaveLength(1);
    await first.store.close();

    const { store } = await openWithDriver(path);
    expect(await store.outbox.stage(world.clock.now + SECOND, 10)).toBe(1);
    const after = { ...world, store };
    expect([await states(after, waiting), await states(after, interrupted)]).toEqual([
      ["1 waiting"],
      ["1 ready"],
    ]);
    expect(await store.outbox.nextDueAt()).toBe(nextAt);
    await store.close();
  }));
