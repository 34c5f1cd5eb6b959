import { expect, test } from "bun:test";
import { email, sms } from "../../../test/progress-samples.ts";
import type { ClaimedJob } from "../../core/queue/claimed-job.ts";
import { toOutgoing } from "./to-outgoing.ts";

test("an SMS goes out from the sender that was found for it, else from the one that the request named", () => {
  expect(senderOf({ from: "NAMED", resolved: { from: "FOUND" } })).toBe("FOUND");
  expect(senderOf({ from: "NAMED" })).toBe("NAMED");
  expect(senderOf({})).toBeUndefined();
});

test("an SMS goes to its recipient, in the flow that it was claimed from", () => {
  const job = {
    progress: sms(),
    settings: {},
    flow: 7,
    recipient: "+919876543210",
    content: { channel: "sms" },
  };
  const outgoing = toOutgoing(job as unknown as ClaimedJob, 60_000, async () => ({ isVerified: true }));
  expect(outgoing).toMatchObject({ kind: "ready", message: { flow: 7, to: "+919876543210" } });
});

test("only what is open is sent, of the parts that the job covers, and nothing that may have been sent where that is held", () => {
  const statuses = ["sent", "pending", "unconfirmed", "pending"] as const;
  const progress = sms({ parts: statuses.map((status) => ({ status })) });
  const partsOf = (of: Partial<ClaimedJob>) => {
    const job = { progress, settings: {}, content: { channel: "sms" }, ...of };
    const outgoing = toOutgoing(job as unknown as ClaimedJob, 60_000, async () => ({ isVerified: true }));
    return "message" in outgoing ? outgoing.message.only : outgoing;
  };
  expect(partsOf({})).toEqual([1, 2, 3]);
  expect(partsOf({ parts: [0, 1, 2] })).toEqual([1, 2]);
  expect(partsOf({ settings: { on_unconfirmed: "hold" } })).toEqual([1, 3]);
  expect(partsOf({ progress: sms() })).toBeUndefined();
});

test.each([
  ["live", true, { kind: "ready" }],
  ["live", false, { kind: "impossible", error: { code: "domain_not_verified" } }],
  ["sandbox", false, { kind: "ready" }],
  ["sandbox", true, { kind: "ready" }],
] as const)(
  "an email of a %s account, whose domain is verified: %p",
  async (accountMode, isVerified, expected) => {
    const content = { channel: "email", from: { email: "shop@acme.example" } };
    const job = { progress: email("ann@example.net"), settings: {}, accountMode, accountId: "1", content };
    const asked: string[] = [];
    const outgoing = await toOutgoing(job as unknown as ClaimedJob, 60_000, async (...of) => {
      asked.push(...of);
      return { isVerified, returnPathHost: "bounces.acme.example" };
    });
    expect(outgoing).toMatchObject(expected);
    expect(asked).toEqual(["1", "acme.example"]);
    if (!("message" in outgoing)) return;
    expect(outgoing.message).toMatchObject({ channel: "email", returnPathHost: "bounces.acme.example" });
    expect(outgoing.message).not.toHaveProperty("isVerified");
  },
);

function senderOf(content: { from?: string; resolved?: { from: string } }): string | undefined {
  const job = { progress: sms(), settings: {}, content: { channel: "sms", ...content } };
  const outgoing = toOutgoing(job as unknown as ClaimedJob, 60_000, async () => ({ isVerified: true }));
  if (!("kind" in outgoing) || outgoing.kind !== "ready" || outgoing.message.channel !== "sms") {
    throw new Error("it does not go out");
  }
  return outgoing.message.from;
}
