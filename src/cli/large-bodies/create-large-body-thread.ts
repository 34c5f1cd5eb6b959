import { type ReadLargeJson, readJson } from "../../api/body/read-json.ts";
import type { ComposeLarge } from "../../channels/email/mail/compose-large.ts";
import { composeMail } from "../../channels/email/mail/compose-mail.ts";
import type { Clock } from "../../core/clock.ts";
import { createThreadTasks } from "../thread-tasks.ts";
import type { FromThread, Task } from "./thread-messages.ts";

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

/** The thread is started when it is first needed. Without free files the work is done here. Tasks that fail reject. */
export function createLargeBodyThread(deps: LargeBodyThreadOptions): LargeBodyThread {
  const thread = createThreadTasks<Task, FromThread>({ ...deps, name: "large-body" });
  const ask = async (task: Task, transfer: readonly ArrayBuffer[] = []) => {
    const answer = await thread.ask(task, transfer);
    if (answer.kind === "failed") throw new Error(answer.message);
    return answer;
  };
  return {
    async readJson(octets) {
      if (!thread.canAsk()) return readJson(octets);
      const answer = await ask({ kind: "read", octets }, octets instanceof ArrayBuffer ? [octets] : []);
      return answer.kind === "read" ? answer.body : undefined;
    },
    async compose(mail) {
      if (!thread.canAsk()) return composeMail(mail);
      const answer = await ask({ kind: "compose", mail });
      if (answer.kind !== "composed") throw new Error("the large-body thread answered something else");
      const { mail: composed } = answer;
      // Structured cloning turns a Buffer into a plain Uint8Array.
      return composed.kind === "composed" ? { ...composed, raw: toBuffer(composed.raw) } : composed;
    },
    stop: thread.stop,
  };
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}
