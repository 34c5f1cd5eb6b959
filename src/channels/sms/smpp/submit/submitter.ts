import type { ChannelDeps } from "../../../channel.ts";
import { createFullQueues, type FullQueues } from "../rate/full-queues.ts";
import type { Pace } from "../rate/pace.ts";
import type { SenderPace } from "../rate/sender-pace.ts";
import type { Binds } from "../session/binds.ts";
import type { Settings } from "../smpp-settings.ts";
import { type AbortWatch, createAbortWatch } from "./abort-watch.ts";
import { type BegunMessages, createBegunMessages } from "./begun-messages.ts";
import type { SubmitLine } from "./submit-line.ts";
import { QUEUE_FULL_WAIT_MS } from "./submit-result.ts";

/** What all attempts over a connector share. */
export interface Submitter extends SubmitterParts, Pick<ChannelDeps, "clock" | "onLateAnswer"> {
  /** False while all slots of the connector belong to other processes. */
  readonly isServing: () => boolean;
  readonly begunMessages: BegunMessages;
  readonly fullQueues: FullQueues;
  readonly abortWatch: AbortWatch;
}

interface SubmitterParts {
  readonly connectorId: string;
  readonly settings: Pick<Settings, "config" | "reading">;
  readonly binds: Pick<Binds, "sessions" | "replace">;
  readonly line: SubmitLine;
  readonly pace: Pace;
  /** `undefined`: senders have no rate of their own. */
  readonly senderPace: SenderPace | undefined;
}

export function createSubmitter(
  parts: SubmitterParts,
  { clock, share, onLateAnswer }: ChannelDeps,
): Submitter {
  return {
    ...parts,
    clock,
    onLateAnswer,
    isServing: () => share === undefined || share.held().size > 0,
    begunMessages: createBegunMessages(),
    fullQueues: createFullQueues(clock, QUEUE_FULL_WAIT_MS),
    abortWatch: createAbortWatch(),
  };
}
