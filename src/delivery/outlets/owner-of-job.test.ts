import { expect, test } from "bun:test";
import { deferred, email, rejected, sent, sms, unconfirmed } from "../../../test/progress-samples.ts";
import type { Part, Progress } from "../../core/messages/message.ts";
import type { PartOutcome } from "../../core/messages/outcome.ts";
import type { ClaimedJob } from "../../core/queue/claimed-job.ts";
import type { Route } from "../../core/records/accounts.ts";
import { canFailOver, ownerOf } from "./owner-of-job.ts";

const PENDING: Part = { status: "pending" };

function mayGo(
  progress: Progress,
  parts: readonly (PartOutcome | undefined)[] = [deferred],
  failover: Route["failover"] = "safe",
): boolean {
  const job = { progress, settings: {} } as unknown as ClaimedJob;
  return canFailOver(job, { parts, countsAsAttempt: true }, failover);
}

test("an SMS goes over another connector if all that was tried of it was put off by the provider", () => {
  expect(mayGo(sms())).toBe(true);
  expect(mayGo(sms(), [undefined, deferred])).toBe(true);
  for (const other of [sent("x"), rejected, unconfirmed]) expect(mayGo(sms(), [deferred, other])).toBe(false);
  const ownPace = { ...deferred, isOwnPace: true } as PartOutcome;
  expect(mayGo(sms(), [ownPace, deferred])).toBe(true);
  expect(mayGo(sms(), [ownPace])).toBe(false);
});

test("an SMS goes over no other connector if a provider has some of it, or may have, unless the route lets others try what one may have", () => {
  const taken = sms({ parts: [{ status: "sent", connectorId: "c1" }, PENDING] });
  const inDoubt = sms({ parts: [{ status: "unconfirmed", connectorId: "c1" }, PENDING] });
  for (const progress of [taken, inDoubt]) expect(mayGo(progress)).toBe(false);
  expect(mayGo(taken, [undefined, deferred], "always")).toBe(false);
  expect(mayGo(inDoubt, [deferred], "always")).toBe(true);
});

test("an SMS that a provider may have goes over no other connector where the account holds what is in doubt, unlike an email", () => {
  const held = { settings: { on_unconfirmed: "hold" } };
  const parts: Part[] = [{ status: "unconfirmed", connectorId: "c1" }];
  for (const failover of ["safe", "always"] as const)
    expect(ownerOf({ ...held, progress: sms({ parts }) }, failover)).toBe("c1");
  expect(ownerOf({ ...held, progress: { ...email(), parts } }, "safe")).toBe("c1");
  expect(ownerOf({ ...held, progress: { ...email(), parts } }, "always")).toBeUndefined();
});

test("an SMS stays with the connector that has or may have any of its segments, behind others that none has", () => {
  const ownerIn = (...parts: Part[]) => ownerOf({ progress: sms({ parts }), settings: {} }, "safe");
  expect(ownerIn(PENDING, { status: "unconfirmed", connectorId: "c1" })).toBe("c1");
  expect(ownerIn({ status: "failed" }, { status: "sent", connectorId: "c1" }, PENDING)).toBe("c1");
  expect(ownerIn({ status: "unconfirmed", connectorId: "c2" }, { status: "sent", connectorId: "c1" })).toBe(
    "c1",
  );
});

test("an email that one connector has deferred for its recipient goes over no other", () => {
  for (const failover of ["safe", "always"] as const)
    expect(mayGo(email("ann@example.net"), [deferred], failover)).toBe(false);
});

test("an email goes to one recipient over any connector, though one of them may have taken it for another", () => {
  const parts: Part[] = [{ status: "unconfirmed", connectorId: "c1", address: "ann@example.net" }, PENDING];
  const mail = { progress: { ...email(), parts }, settings: {} };
  expect(ownerOf({ ...mail, parts: [0] }, "safe")).toBe("c1");
  expect(ownerOf({ ...mail, parts: [1] }, "safe")).toBeUndefined();
  const taken: Part[] = [{ status: "sent", connectorId: "c1", address: "ann@example.net" }, PENDING];
  expect(ownerOf({ progress: { ...email(), parts: taken }, settings: {} }, "safe")).toBeUndefined();
});
