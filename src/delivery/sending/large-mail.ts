import { isLargeContent } from "../../core/email/large-body.ts";
import type { ClaimedJob } from "../../core/queue/claimed-job.ts";
import type { Queue } from "../../store/store.ts";
import type { LargeLimit } from "../outlets/large-limit.ts";

/** Takes a place for a large message. Other messages need none. */
export function takeLargePlace(
  largeLimit: LargeLimit,
  { content }: ClaimedJob,
): ReturnType<LargeLimit["enter"]> {
  const isApart = content.channel === "email" && content.isBodyApart === true;
  return isApart || isLargeContent(content) ? largeLimit.enter() : NO_PLACE_NEEDED;
}

const NO_PLACE_NEEDED = { leave() {} };

/** The job with its texts: a claim leaves large ones in the store. `undefined` if they have been wiped since. */
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
