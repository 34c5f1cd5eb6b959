import { type JsonBody, type ReadLargeJson, readJson } from "../../api/body/read-json.ts";
import type { ComposeLarge } from "../../channels/email/mail/compose-large.ts";
import { type ComposedMail, composeMail } from "../../channels/email/mail/compose-mail.ts";
import type { Clock } from "../../core/clock.ts";
import { createThreadTasks } from "../thread-tasks.ts";

/** A worker thread for large bodies and large mail, which would hold up other requests. */
export interface LargeBodyThread {
  readonly readJson: ReadLargeJson;
  readonly compose: ComposeLarge;
  /** Ends the thread; tasks under way reject. */
  stop(): Promise<void>;
}

export interface LargeBodyThreadOptions {
  readonly program: URL;
  readonly clock: Pick<Clock, "after">;
}

/** What the thread does. */
export const LARGE_BODY_WORK = { readJson, composeMail };

export function createLargeBodyThread(options: LargeBodyThreadOptions): LargeBodyThread {
  const thread = createThreadTasks({ ...options, name: "large-body", work: LARGE_BODY_WORK });
  return {
    readJson: (octets) => thread.ask("readJson", [octets], octets instanceof ArrayBuffer ? [octets] : []),
    async compose(mail) {
      const composed = await thread.ask("composeMail", [mail]);
      // Structured cloning turns a Buffer into a plain Uint8Array.
      return composed.kind === "composed" ? { ...composed, raw: toBuffer(composed.raw) } : composed;
    },
    stop: thread.stop,
  };
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** The octets of a mail, if they have their memory to themselves: the thread transfers them instead of copying them. */
export function octetsIn(result: JsonBody | ComposedMail | undefined): readonly ArrayBuffer[] {
  if (!result || !("raw" in result)) return [];
  const { buffer, byteLength } = result.raw;
  return byteLength === buffer.byteLength ? [buffer as ArrayBuffer] : [];
}
