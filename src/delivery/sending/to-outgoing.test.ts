import { expect, test } from "bun:test";
import { sms } from "../../../test/progress-samples.ts";
import type { ClaimedJob } from "../../core/queue/claimed-job.ts";
import { toOutgoing } from "./to-outgoing.ts";

test("an SMS goes out from the sender that was found for it, else from the one that the request named", () => {
  expect(senderOf({ from: "NAMED", resolved: { from: "FOUND" } })).toBe("FOUND");
  expect(senderOf({ from: "NAMED" })).toBe("NAMED");
  expect(senderOf({})).toBeUndefined();
});

function senderOf(content: { from?: string; resolved?: { from: string } }): string | undefined {
  const job = { progress: sms(), settings: {}, content: { channel: "sms", ...content } };
  const outgoing = toOutgoing(job as unknown as ClaimedJob, 60_000, async () => ({ isVerified: true }));
  if (!("kind" in outgoing) || outgoing.kind !== "ready" || outgoing.message.channel !== "sms") {
    throw new Error("it does not go out");
  }
  return outgoing.message.from;
}
