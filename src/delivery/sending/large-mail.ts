import { isLargeContent } from "../../core/email/large-body.ts";
import type { ClaimedJob } from "../../core/queue/claimed-job.ts";
import type { Queue } from "../../store/store.ts";
import type { Lane } from "../outlets/lane.ts";

/** What is not large needs no place, and takes none. */
export function enterLane(lane: Lane, { content }: ClaimedJob): ReturnType<Lane["enter"]> {
  const isApart = content.channel === "email" && content.isBodyApart === true;
  return isApart || isLargeContent(content) ? lane.enter() : FREE;
}

const FREE = { leave() {} };

/** The job with its texts, which a claim may have left where they were. One whose texts have been wiped since is past sending. */
export async function withLargeBody(job: ClaimedJob, queue: Pick<Queue, "largeBody">): Promise<ClaimedJob> {
  const { content, messageId } = job;
  if (content.channel !== "email" || !content.isBodyApart) return job;
  const { isBodyApart, ...rest } = content;
  return { ...job, content: { ...rest, ...(await queue.largeBody?.(messageId)) } };
}
