/** The program of the thread that parses large bodies and composes large mail, so that other requests do not wait. */
import { parentPort } from "node:worker_threads";
import { readJson } from "../api/body/read-json.ts";
import { composeMail } from "../channels/email/mail/compose-mail.ts";
import type { FromThread, Task, ToThread } from "./large-bodies/thread-messages.ts";

if (!parentPort) throw new Error("this program runs on a thread that the service starts");
const port = parentPort;

port.on("message", ({ id, task }: ToThread) => {
  work(id, task).then(reply, (error) => reply({ id, kind: "failed", message: String(error) }));
});

async function work(id: number, task: Task): Promise<FromThread> {
  if (task.kind === "read") return { id, kind: "read", body: readJson(task.octets) };
  return { id, kind: "composed", mail: await composeMail(task.mail) };
}

/** Transfers the octets of a mail instead of copying them. */
function reply(answer: FromThread): void {
  const raw = answer.kind === "composed" && answer.mail.kind === "composed" ? answer.mail.raw : undefined;
  const isWhole = raw !== undefined && raw.byteLength === raw.buffer.byteLength;
  port.postMessage(answer, isWhole ? [raw.buffer as ArrayBuffer] : []);
}
