import { isLargeContent } from "../../core/email/large-body.ts";
import type { ClaimedJob } from "../../core/queue/claimed-job.ts";
import type { Queue } from "../../store/store.ts";
import type { Lane } from "../outlets/lane.ts";

/** Takes a place for a large message. Other messages need none, and always may go. */
export function enterLane(lane: Lane, { content }: ClaimedJob): ReturnType<Lane["enter"]> {
  const isApart = content.channel === "email" && content.isBodyApart === true;
  return isApart || isLargeContent(content) ? lane.enter() : NO_PLACE_NEEDED;
}

const NO_PLACE_NEEDED = { leave() {} };

/** The job with its texts, which a claim leaves in the store where they are large; `undefined` if they have been wiped since. */
export async function withLargeBody(
  job: ClaimedJob,
  queue: Pick<Queue, "largeBody">,
): Promise<ClaimedJob | undefined> {
  const { content, messageId } = job;
  if (content.channel !== "email" || !content.isBodyApart) return job;
  const { isBodyApart, ...rest } = content;
  const texts = await queue.largeBody?.(messageId);
  return texts && { ...job, content: { ...rest, ...texts } };
}
