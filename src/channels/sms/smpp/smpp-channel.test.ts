import { afterEach, expect, test } from "bun:test";
import {
  closeSmppRigs,
  LONG_TEXT,
  openBoundSmppRig,
  openSmppRig,
  outgoingSms,
  sendThrough,
} from "../../../../test/fakes/smpp-rig.ts";
import { channelContract } from "../../channel.contract.ts";

afterEach(closeSmppRigs);

channelContract("smpp", async () => {
  const rig = await openSmppRig();
  const { smsc, channel, clock } = rig;
  return {
    channel,
    statuses: rig.statuses,
    message: (parts) => outgoingSms({ text: LONG_TEXT, parts: (parts ?? []).map((status) => ({ status })) }),
    whenUp: () => rig.state("up"),
    behave(as) {
      smsc.dial.holdSubmits = as === "silent";
      if (as === "defer") smsc.dial.submitStatus = 0x08;
      if (as === "reject") smsc.dial.submitStatus = 0x0b;
    },
    release: smsc.release,
    whenHanded: (count) => smsc.until(() => smsc.submits.length >= count),
    handed: () => smsc.submits.length,
    elapse: (ms) => clock.advance(ms),
    close: async () => {},
  };
});

test("a message goes out with the addresses, coding, DLT ids and validity the provider needs", async () => {
  const { channel, smsc } = await openBoundSmppRig();
  const outcome = await sendThrough(
    channel,
    outgoingSms({ content: { dltEntityId: "1101", dltTemplateId: "1107" } }),
  );
  expect(outcome).toEqual({
    parts: [{ kind: "sent", providerMessageIds: ["A1B2C3D4"] }],
    countsAsAttempt: true,
    detail: { encoding: "gsm7", segments: 1, provider_message_id: "A1B2C3D4" },
  });
  const [submit] = smsc.submits;
  expect(submit).toMatchObject({
    source: { ton: 5, npi: 0, address: "PSTRDR" },
    destination: { ton: 1, npi: 1, address: "919876543210" },
    esmClass: 0,
    dataCoding: 0,
    registeredDelivery: 1,
    validityPeriod: "000000010000000R",
  });
  expect(Buffer.from(submit!.shortMessage).toString("latin1")).toBe("Hello");
  expect([...submit!.tlvs].map(([tag, value]) => [tag, Buffer.from(value).toString("latin1")])).toEqual([
    [0x1400, "1101"],
    [0x1401, "1107"],
  ]);
});

test.each([
  [0, false],
  [1, true],
  [2, false],
  [3, false],
  [17, true],
] as const)(
  "with registered_delivery %p a final receipt is sure to come: %p",
  async (registered_delivery, isSure) => {
    const { channel } = await openBoundSmppRig({ config: { registered_delivery } });
    const [part] = (await sendThrough(channel)).parts;
    expect(part?.kind === "sent" && part.expectsReceipt !== false).toBe(isSure);
  },
);

test("a retry of one segment carries the same reference, count and number as the first try", async () => {
  const { channel, smsc } = await openBoundSmppRig();
  const first = outgoingSms({ text: LONG_TEXT });
  await sendThrough(channel, first);
  await sendThrough(channel, { ...first, parts: [{ status: "sent" }, { status: "pending" }] });
  const headers = smsc.submits.map(({ shortMessage }) =>
    Buffer.from(shortMessage.subarray(0, 6)).toString("hex"),
  );
  expect(headers).toHaveLength(3);
  expect(headers[0]).toMatch(/^050003..0201$/);
  expect(headers[1]).toBe(headers[0]!.replace(/01$/, "02"));
  expect(headers[2]).toBe(headers[1]!);
});

test("a throttled message costs no attempt, and the channel rests about a second", async () => {
  const { channel, clock } = await openBoundSmppRig({ dial: { throttle: 1 } });
  expect(await sendThrough(channel)).toMatchObject({
    parts: [{ kind: "deferred", retryAfterMs: 1000, error: { code: "smpp.0x00000058" } }],
    countsAsAttempt: false,
  });
  expect(channel.freeSlots()).toBe(0);
  await clock.advance(999);
  expect(channel.freeSlots()).toBe(0);
  await clock.advance(1);
  expect(channel.freeSlots()).toBeGreaterThan(0);
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
});

test.each([
  [0x14, "deferred", false],
  [0x08, "deferred", true],
  [0xff, "deferred", true],
  [0x0a, "rejected", true],
  [0x0b, "rejected", true],
  [0xc3, "rejected", true],
  [0x401, "rejected", true],
  [0x04, "deferred", false],
  [0x02, "deferred", true],
] as const)("status %p is %p, counting as an attempt: %p", async (submitStatus, kind, countsAsAttempt) => {
  const { channel } = await openBoundSmppRig({ dial: { submitStatus } });
  const code = `smpp.0x${submitStatus.toString(16).padStart(8, "0")}`;
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind, error: { code } }], countsAsAttempt });
});

test("a connector's own classes of status outrank the table", async () => {
  const { channel } = await openBoundSmppRig({
    dial: { submitStatus: 0x401 },
    config: { status_classes: { "0x0401": "transient" } },
  });
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "deferred" }] });
});

test("after a session fault the session is replaced, and the message is sent by the next", async () => {
  const { channel, smsc, clock, state } = await openBoundSmppRig({ dial: { submitStatus: 0x04 } });
  await sendThrough(channel);
  expect(channel.freeSlots()).toBe(0);
  await state("down");
  expect(channel.status().reason).toContain("ESME_RINVBNDSTS");
  delete smsc.dial.submitStatus;
  await clock.advance(1000);
  await state("up");
  expect(smsc.binds).toHaveLength(2);
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
});

test.each(["before answer", "mid answer"] as const)(
  "a connection lost %s leaves the message unconfirmed",
  async (drop) => {
    const { channel, state } = await openBoundSmppRig({ dial: { drop } });
    expect(await sendThrough(channel)).toMatchObject({
      parts: [{ kind: "unconfirmed", error: { code: "smpp.session_lost" } }],
      countsAsAttempt: true,
    });
    await state("down");
    expect(await sendThrough(channel)).toMatchObject({
      parts: [{ kind: "deferred" }],
      countsAsAttempt: false,
    });
  },
);

test("octets that are no PDU end the session with a generic_nack, and the next one works", async () => {
  const { channel, smsc, clock, state } = await openBoundSmppRig({
    dial: { garbage: Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n") },
  });
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "unconfirmed" }] });
  await state("down");
  await smsc.until(() => smsc.others.length > 0);
  expect(smsc.others[0]).toMatchObject({ commandId: 0x80000000, status: 2, sequence: 0 });
  delete smsc.dial.garbage;
  await clock.advance(1000);
  await state("up");
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
});

test("once a segment is refused, those not yet sent stay here", async () => {
  const { channel, smsc } = await openBoundSmppRig({ dial: { submitStatus: 0x0b }, config: { window: 1 } });
  const outcome = await sendThrough(channel, outgoingSms({ text: LONG_TEXT }));
  expect(outcome.parts.map((p) => p?.kind)).toEqual(["rejected", "rejected"]);
  expect(smsc.submits).toHaveLength(1);
  // Nor do they keep the slot they were given.
  expect(channel.freeSlots()).toBe(1);
  delete smsc.dial.submitStatus;
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
});

test("never more submit_sm are unanswered than the window allows, and all are sent in the end", async () => {
  const { channel, smsc } = await openBoundSmppRig({ dial: { holdSubmits: true }, config: { window: 3 } });
  const sends = [1, 2, 3].map(() => sendThrough(channel, outgoingSms({ text: LONG_TEXT })));
  await smsc.until(() => smsc.submits.length === 3);
  expect(channel.freeSlots()).toBe(0);
  await smsc.request(0x15);
  expect(smsc.submits).toHaveLength(3);
  smsc.release();
  for (const outcome of await Promise.all(sends))
    expect(outcome.parts.map((p) => p?.kind)).toEqual(["sent", "sent"]);
  expect(channel.freeSlots()).toBe(3);
});

test("what the SMSC asks is answered while the window is full", async () => {
  const { channel, smsc, receipts } = await openBoundSmppRig({
    dial: { holdSubmits: true },
    config: { window: 1 },
  });
  const sending = sendThrough(channel);
  await smsc.until(() => smsc.submits.length === 1);
  expect(await smsc.request(0x15)).toMatchObject({ commandId: 0x80000015, status: 0 });
  expect(await smsc.sendReceipt({ ...smsc.submits[0]!, messageId: "other" })).toBe(0);
  expect(receipts).toHaveLength(1);
  smsc.release();
  await sending;
});

test("segments that find no slot in time are put off, and the send keeps its limit", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({
    dial: { holdSubmits: true },
    config: { window: 1 },
  });
  const sending = sendThrough(channel, outgoingSms({ text: LONG_TEXT.repeat(3) }));
  await smsc.until(() => smsc.submits.length === 1);
  // The SMSC shows that it lives, so that it gets one more.
  for (let past = 0; past < 120_000; past += 20_000)
    await smsc.request(0x15).then(() => clock.advance(20_000));
  const outcome = await sending;
  // The second found one when the first was given up on; the others did not.
  expect(outcome.parts.map((part) => part?.kind)).toEqual([
    "unconfirmed",
    "unconfirmed",
    "deferred",
    "deferred",
  ]);
});

test("a message whose window ends while it waits is not sent", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({
    dial: { holdSubmits: true },
    config: { window: 1 },
  });
  const first = sendThrough(channel);
  await smsc.until(() => smsc.submits.length === 1);
  const second = sendThrough(channel, outgoingSms({ remainingMs: 5000 }));
  await clock.advance(5000);
  smsc.release();
  await first;
  expect(await second).toMatchObject({
    parts: [{ kind: "deferred", error: { code: "smpp.too_late" } }],
    countsAsAttempt: false,
  });
  expect(smsc.submits).toHaveLength(1);
});

test("a segment that was taken is progress: beside it, a throttled one costs no attempt", async () => {
  let count = 0;
  const { channel } = await openBoundSmppRig({ dial: { submitStatus: () => (++count === 2 ? 0x58 : 0) } });
  const outcome = await sendThrough(channel, outgoingSms({ text: LONG_TEXT }));
  expect(outcome.parts.map((p) => p?.kind)).toEqual(["sent", "deferred"]);
  expect(outcome.countsAsAttempt).toBe(false);
});

test("beside a segment that was taken, one that failed for the time being costs an attempt", async () => {
  let count = 0;
  const { channel } = await openBoundSmppRig({ dial: { submitStatus: () => (++count === 2 ? 0x08 : 0) } });
  const outcome = await sendThrough(channel, outgoingSms({ text: LONG_TEXT }));
  expect(outcome.parts.map((p) => p?.kind)).toEqual(["sent", "deferred"]);
  expect(outcome.countsAsAttempt).toBe(true);
});

test("a slot stays taken until its answer is in, also when nobody waits for that any more", async () => {
  const { channel, smsc, until } = await openBoundSmppRig({
    dial: { holdSubmits: true },
    config: { window: 1 },
  });
  const controller = new AbortController();
  const sending = channel.send(outgoingSms(), controller.signal);
  await smsc.until(() => smsc.submits.length === 1);
  controller.abort();
  expect(await sending).toMatchObject({ parts: [{ kind: "unconfirmed", error: { code: "smpp.cut_off" } }] });
  expect(channel.freeSlots()).toBe(0);
  smsc.release();
  await until(() => channel.freeSlots() === 1);
});

test("a text that no longer makes the segments that were sent is rejected, not sent in pieces that do not fit", async () => {
  const { channel, smsc } = await openBoundSmppRig();
  const outcome = await sendThrough(
    channel,
    outgoingSms({ text: "short", parts: [{ status: "sent" }, { status: "pending" }] }),
  );
  expect(outcome.parts.map((p) => p?.kind)).toEqual([undefined, "rejected"]);
  expect(smsc.submits).toHaveLength(0);
});

test("a message without text, or with a sender no SMSC takes, is rejected and not sent", async () => {
  const { channel, smsc } = await openBoundSmppRig();
  const { text: _, ...withoutText } = outgoingSms();
  expect(await sendThrough(channel, withoutText)).toMatchObject({ parts: [{ kind: "rejected" }] });
  expect(await sendThrough(channel, outgoingSms({ from: "Ünïcode" }))).toMatchObject({
    parts: [{ kind: "rejected" }],
  });
  expect(await sendThrough(channel, outgoingSms({ from: "x".repeat(21) }))).toMatchObject({
    parts: [{ kind: "rejected" }],
  });
  expect(smsc.submits).toHaveLength(0);
});
