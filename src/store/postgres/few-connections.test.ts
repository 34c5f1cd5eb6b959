/** A process for which the server has hardly any connections left, and that has not seen the day and the queues before. */
import { expect, test } from "bun:test";
import { createWorld, QUEUE } from "../contract/world.contract.ts";
import { openFresh } from "./postgres-world.contract.ts";

for (const connections of [1, 2])
  test(`no call that has a connection waits for another one, where there are ${connections} in all`, async () => {
    const { store } = await openFresh({ connections });
    const { sms, claim } = await createWorld(store);
    const accepted = await Promise.all(Array.from({ length: 20 }, () => sms()));
    expect(accepted.flat()).toHaveLength(20);
    const line = await store.queue.inLine(QUEUE, { limit: 20 });
    await Promise.all(line.map((job) => store.queue.move([{ ...job, queue: `queue-of-${job.jobId}` }])));
    expect(await claim(20)).toEqual([]);
    await store.close();
  });
