/** What becomes of a long message when its connector's settings change after some of its segments were sent. */
import { afterEach, expect, test } from "bun:test";
import {
  closeSmppRigs,
  LONG_TEXT,
  openBoundSmppRig,
  outgoingSms,
  sendThrough,
} from "../../../../../test/fakes/smpp-rig.ts";
import { present } from "../../../../core/present.ts";

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
  expect(parts).toMatchObject([undefined, { kind: "sent", joinedBy: expect.stringContaining(joinedBy) }]);
  expect(smsc.submits.map(headerOf)).toEqual([header]);
});

test.each([
  ["€", 0],
  ["₹", 8],
])(
  "the rest of a message with %s goes out as it began, from its sender, after a restart with other settings",
  async (sign, coding) => {
    const statuses = [0, 0x14];
    const config = { source_addr: "+31 6", default_data_coding: 0 };
    const first = await openBoundSmppRig({ dial: { submitStatus: () => statuses.shift() }, config });
    const { from: _, ...message } = outgoingSms({
      text: `${sign}${LONG_TEXT.slice(0, coding === 8 ? 100 : 200)}`,
    });
    const before = await sendThrough(first.channel, message);
    expect(before.parts.map((part) => part?.kind)).toEqual(["sent", "deferred"]);
    const [taken] = before.parts;
    const joinedBy = taken?.kind === "sent" ? taken.joinedBy : undefined;
    const second = await openBoundSmppRig({
      config: {
        source_addr: "OTHER",
        source_ton: 3,
        source_npi: 9,
        default_alphabet: "latin1",
        default_data_coding: 3,
        ucs2_data_coding: 24,
        concat: "udh16",
      },
    });
    const parts = [{ status: "sent" as const, ...present({ joinedBy }) }, { status: "pending" as const }];
    expect((await sendThrough(second.channel, { ...message, parts })).parts[1]).toMatchObject({ joinedBy });
    const seen = [first, second].map(({ smsc }) => {
      const { source, dataCoding, shortMessage } = smsc.submits.at(-1) ?? {};
      return { source, dataCoding, header: [...(shortMessage?.subarray(0, 6) ?? [])] };
    });
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[1]).toMatchObject({ source: { ton: 5, npi: 0, address: "+31 6" }, dataCoding: coding });
  },
);

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

test("of a message all of whose segments go out again it does not matter how they went out before", async () => {
  const { channel, smsc } = await openBoundSmppRig({ config: { concat: "udh16" } });
  const parts = [0, 1].map(() => ({ status: "unconfirmed" as const, joinedBy: "udh8" }));
  const sent = await sendThrough(channel, outgoingSms({ text: LONG_TEXT, parts }));
  expect(sent.parts).toMatchObject([{ kind: "sent" }, { kind: "sent" }]);
  expect(smsc.submits.map(headerOf)).toEqual([
    [6, 8, 4],
    [6, 8, 4],
  ]);
});

test("a message whose earlier attempt did not note how it began goes on as the connector is set now", async () => {
  const { channel, smsc } = await openBoundSmppRig({ config: { concat: "udh16" } });
  expect((await sendThrough(channel, begun())).parts[1]).toMatchObject({ kind: "sent" });
  expect(smsc.submits.map(headerOf)).toEqual([[6, 8, 4]]);
});
