/** What becomes of a long message when its connector's settings change after some of its segments were sent. */
import { afterEach, expect, test } from "bun:test";
import {
  closeSmppRigs,
  LONG_TEXT,
  openBoundSmppRig,
  outgoingSms,
  sendThrough,
} from "../../../../../test/fakes/smpp-rig.ts";

afterEach(closeSmppRigs);

/** The second segment of two, as an earlier attempt left them. */
const begun = (joinedBy?: string) =>
  outgoingSms({
    text: LONG_TEXT,
    parts: [{ status: "delivered", ...(joinedBy !== undefined && { joinedBy }) }, { status: "pending" }],
  });

const headerOf = ({ shortMessage }: { shortMessage: Uint8Array }) => [...shortMessage.subarray(0, 3)];

test.each([
  ["udh8", [5, 0, 3]],
  ["udh16", [6, 8, 4]],
])("the rest of a message that began as %s goes out as that", async (joinedBy, header) => {
  const { channel, smsc } = await openBoundSmppRig({ config: { concat: "payload" } });
  const { parts } = await sendThrough(channel, begun(joinedBy));
  expect(parts).toMatchObject([undefined, { kind: "sent", joinedBy }]);
  expect(smsc.submits.map(headerOf)).toEqual([header]);
});

test("a message that began as sar fails where SMPP 3.3 has no TLVs for the rest", async () => {
  const { channel, smsc } = await openBoundSmppRig({ config: { interface_version: "3.3" } });
  const { parts } = await sendThrough(channel, begun("sar"));
  expect(parts).toMatchObject([undefined, { kind: "rejected", error: { code: "smpp.segments_changed" } }]);
  expect(smsc.submits).toEqual([]);
});

test("a message fails where its text makes another number of segments than were counted when it began", async () => {
  const { channel, smsc } = await openBoundSmppRig();
  const { parts } = await sendThrough(channel, { ...begun("udh8"), text: LONG_TEXT.repeat(2) });
  expect(parts).toMatchObject([undefined, { kind: "rejected", error: { code: "smpp.segments_changed" } }]);
  expect(smsc.submits).toEqual([]);
});

test("one whose earlier attempt did not note how it began goes on as the connector is set now", async () => {
  const { channel, smsc } = await openBoundSmppRig({ config: { concat: "udh16" } });
  expect((await sendThrough(channel, begun())).parts[1]).toMatchObject({ kind: "sent" });
  expect(smsc.submits.map(headerOf)).toEqual([[6, 8, 4]]);
});
