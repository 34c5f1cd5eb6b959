/** What becomes of jobs, by dice. */
import type { EmailContent } from "../../src/core/messages/message.ts";
import type { ClaimedJob } from "../../src/core/queue/claimed-job.ts";
import type { Queue } from "../../src/store/store.ts";
import { ask, type Ground } from "./engine-ground.ts";
import { QUEUES } from "./intake-calls.ts";
import { byKey, pairs, takeSome } from "./pairs.ts";
import { settlementOf } from "./provider-words.ts";

export async function claim(ground: Ground): Promise<unknown> {
  const { dice, clock } = ground;
  const request = {
    queue: dice.oneOf(QUEUES),
    limit: dice.oneOf([1, 5, 200, 200]),
    now: clock.now,
    leaseMs: 20_000,
  };
  const claimed = await ask(
    ground,
    async ({ queue }) => Promise.all((await queue.claim(request)).map((job) => withTexts(queue, job))),
    // The engines number jobs and accounts each in their own way.
    (jobs) => jobs.map((job) => ({ ...job, jobId: 0, flow: job.flow % 2 })).sort(byKey(keyOfJob)),
  );
  ground.jobs.push(...pairs(claimed, keyOfJob));
  return claimed[0];
}

/** With its texts, which one engine hands out apart if they are large. */
async function withTexts(queue: Queue, job: ClaimedJob): Promise<ClaimedJob> {
  const { isBodyApart, ...content } = job.content as EmailContent;
  if (!isBodyApart) return job;
  return { ...job, content: { ...content, ...(await queue.largeBody?.(job.messageId)) } };
}

function keyOfJob({ messageId, parts = [] }: Pick<ClaimedJob, "messageId" | "parts">): string {
  return `${messageId} ${parts.join()}`;
}

export async function settle(ground: Ground): Promise<unknown> {
  const settled = takeSome(ground, ground.jobs).map((pair) => ({
    pair,
    settlement: settlementOf(ground, pair[0]),
  }));
  const [answers] = await ask(ground, (store, engine) =>
    store.queue.settle(settled.map(({ pair, settlement }) => ({ ...settlement, jobId: pair[engine].jobId }))),
  );
  return answers;
}

/** Some move to another queue, as where their route is gone. */
export async function release(ground: Ground): Promise<unknown> {
  const { dice, jobs, clock } = ground;
  const [pair] = jobs.splice(0, 1);
  if (!pair) return false;
  const queue = dice.chance(0.4) ? { queue: dice.oneOf(QUEUES) } : {};
  const [answers] = await ask(ground, (store, engine) =>
    store.queue.release([{ ...pair[engine], ...queue }], clock.now),
  );
  return answers;
}

export async function stage(ground: Ground): Promise<unknown> {
  return (await ask(ground, (store) => store.queue.stage(ground.clock.now, 1_000)))[0];
}

export async function expire(ground: Ground): Promise<unknown> {
  return (await ask(ground, (store) => store.queue.expire(ground.clock.now, 1_000)))[0];
}
