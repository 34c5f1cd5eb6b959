import { afterEach, expect, test } from "bun:test";
import {
  closeSmppRigs,
  openBoundSmppRig,
  openSmppRig,
  sendThrough,
} from "../../../../../test/fakes/smpp-rig.ts";
import { until } from "../../../../../test/until.ts";
import { readSmppConfig, sessionOptions } from "../smpp-config.ts";
import { COMMAND, encodeShortMessage } from "../wire/pdu.ts";
import { openSession, type Session, type SessionEnd } from "./session.ts";

afterEach(closeSmppRigs);

test("a session goes on over its highest sequence_number, and answers on either side of it find their requests", async () => {
  const { smsc, clock, connector } = await openSmppRig({ dial: { holdSubmits: true } });
  const config = readSmppConfig(connector);
  if (config instanceof Error) throw config;
  const options = sessionOptions(config, connector.secrets);
  const bound = Promise.withResolvers<Session>();
  const ended = Promise.withResolvers<SessionEnd>();
  openSession({ ...options, role: "transceiver", window: () => 10, firstSequence: 0x7ffffffd }, clock, {
    onBound: bound.resolve,
    onMessage: (_, acknowledge) => acknowledge(0),
    onSlots() {},
    onEnd: ended.resolve,
  });
  const session = await bound.promise;
  const body = encodeShortMessage({
    source: { ton: 5, npi: 0, address: "ACME" },
    destination: { ton: 1, npi: 1, address: "919876543210" },
    esmClass: 0,
    validityPeriod: "",
    registeredDelivery: 1,
    dataCoding: 0,
    shortMessage: Buffer.from("hi"),
    tlvs: new Map(),
  });
  const answers = Array.from({ length: 4 }, () => {
    session.slots.take();
    return session.submit(body);
  });
  await smsc.until(() => smsc.submits.length === 4);
  expect(smsc.submits.map(({ sequence }) => sequence)).toEqual([0x7ffffffe, 0x7fffffff, 1, 2]);
  smsc.release();
  expect(await Promise.all(answers)).toMatchObject(
    smsc.submits.map(({ messageId }) => ({ kind: "answered", messageId })),
  );
  session.unbind("over");
  expect(await ended.promise).toMatchObject({ reason: "over" });
  expect(smsc.others.map(({ sequence }) => sequence)).toEqual([3]);
});

test("a silent SMSC is asked for life after 30 s, and given up when it does not answer", async () => {
  const { smsc, clock, state, channel } = await openBoundSmppRig({ dial: { ignoreEnquireLink: true } });
  await clock.advance(29_999);
  expect(smsc.others).toEqual([]);
  await clock.advance(1);
  await smsc.until(() => smsc.others.length === 1);
  expect(smsc.others[0]!.commandId).toBe(0x15);
  await clock.advance(60_000);
  await state("down");
  expect(channel.status().reason).toContain("enquire_link");
  delete smsc.dial.ignoreEnquireLink;
  await clock.advance(1000);
  await state("up");
});

test("an SMSC that never answers enquire_link keeps its session while it says anything else", async () => {
  const { smsc, clock, state, statuses } = await openBoundSmppRig({ dial: { ignoreEnquireLink: true } });
  const asked = () => smsc.others.filter(({ commandId }) => commandId === 0x15).length;
  for (let count = 1; count <= 3; count++) {
    await clock.advance(30_000);
    await smsc.until(() => asked() === count);
    await clock.advance(59_000);
    await smsc.request(0x15);
  }
  expect(statuses.map(({ state }) => state)).toEqual(["connecting", "up"]);
  await clock.advance(90_000);
  await state("down");
});

/** Sends as many messages as may be, at any time within so many milliseconds. */
async function sendAllThrough(
  { channel, clock }: Awaited<ReturnType<typeof openBoundSmppRig>>,
  forMs: number,
) {
  for (let past = 0; past < forMs; past += 500) {
    while (channel.freeSlots() > 0) void sendThrough(channel);
    await clock.advance(500);
  }
}

test("an SMSC that has fallen silent gets no more than its window, however long that is noticed later", async () => {
  const dial = { holdSubmits: true, ignoreEnquireLink: true };
  const rig = await openBoundSmppRig({ dial, config: { response_timeout_ms: 5_000 } });
  await sendAllThrough(rig, 35_000);
  await rig.state("down");
  expect(rig.smsc.submits).toHaveLength(10);
});

test("an SMSC that has fallen silent is asked for life once its time for an answer is over, and gets one more segment as soon as it says anything", async () => {
  const rig = await openBoundSmppRig({ dial: { holdSubmits: true }, config: { response_timeout_ms: 5_000 } });
  const { smsc } = rig;
  await sendAllThrough(rig, 5_000);
  await smsc.until(() => smsc.others.length === 1);
  expect(smsc.others[0]!.commandId).toBe(COMMAND.enquireLink);
  // Once this is answered, the SMSC's own answer is in as well.
  await smsc.request(COMMAND.enquireLink);
  await sendAllThrough(rig, 4_500);
  expect(smsc.submits).toHaveLength(11);
});

test("receipts that the SMSC sends with its answer to the bind are taken", async () => {
  const { channel, smsc, receipts } = await openSmppRig();
  channel.start();
  await smsc.until(() => smsc.bound().length === 1);
  const text = "id:A1 stat:DELIVRD err:000";
  expect(await smsc.deliver({ esmClass: 0x04, shortMessage: Buffer.from(text) })).toBe(0);
  expect(receipts).toMatchObject([{ providerMessageId: "A1", status: "delivered" }]);
});

test("an SMSC that answers enquire_link keeps its session, and is asked again", async () => {
  const { smsc, clock, statuses } = await openBoundSmppRig();
  const asked = () => smsc.others.filter(({ commandId }) => commandId === 0x15).length;
  for (let count = 1; count <= 4; count++) {
    await clock.advance(30_000);
    await smsc.until(() => asked() === count);
    // Once this is answered our own answer is in as well, and the silence starts again.
    await smsc.request(0x15);
    await clock.advance(29_999);
    expect(asked()).toBe(count);
    await smsc.request(0x15);
  }
  expect(statuses.map(({ state }) => state)).toEqual(["connecting", "up"]);
});

test("reconnecting waits 1 s, doubling to 60 s, with jitter", async () => {
  const { smsc, clock, channel, state } = await openSmppRig({ dial: { hangUp: true } });
  channel.start();
  const waits: number[] = [];
  for (let i = 0; i < 8; i++) {
    await state("down");
    const from = clock.now();
    let isTried = false;
    void state("connecting").then(() => {
      isTried = true;
    });
    const isTriedLater = async () => {
      await clock.advance(250);
      return isTried;
    };
    await until(isTriedLater, Boolean, { pauseMs: 0 });
    waits.push(clock.now() - from);
  }
  // Chance is held at one half: three quarters of each step.
  expect(waits).toEqual([750, 1500, 3000, 6000, 12_000, 24_000, 45_000, 45_000]);
  expect(smsc.binds).toHaveLength(0);
});

test("after a refused password the next try is minutes away, and the status says why", async () => {
  const { smsc, clock, channel, state } = await openSmppRig({ dial: { bindStatus: 0x0e } });
  channel.start();
  await state("down");
  expect(channel.status().reason).toBe(
    "the SMSC refused the bind: password is invalid (ESME_RINVPASWD); tried again every 5 minutes",
  );
  await clock.advance(299_000);
  expect(smsc.binds).toHaveLength(1);
  delete smsc.dial.bindStatus;
  await clock.advance(1000);
  await state("up");
});

test.each([
  ["transceiver", "; `bind` may have to be transmitter_receiver"],
  ["transmitter_receiver", ""],
])("of an SMSC that does not know the command of a bind (%s) it is said what to do", async (bind, advice) => {
  const { channel, state } = await openSmppRig({ config: { bind }, dial: { bindStatus: 0x03 } });
  channel.start();
  await state("down");
  expect(channel.status().reason).toEndWith(`: command id is invalid (ESME_RINVCMDID)${advice}`);
});

test("a bind without an answer is given up after 30 s", async () => {
  const { smsc, clock, channel, state } = await openSmppRig({ dial: { ignoreBind: true } });
  channel.start();
  await smsc.until(() => smsc.binds.length === 1);
  await clock.advance(30_000);
  await state("down");
  expect(channel.status().reason).toContain("bind");
});

test("an SMSC that unbinds is answered, and bound to again", async () => {
  const { smsc, clock, state, channel } = await openBoundSmppRig();
  expect(await smsc.request(0x06)).toMatchObject({ commandId: 0x80000006, status: 0 });
  await state("down");
  expect(channel.status().reason).toContain("the SMSC unbound");
  await clock.advance(1000);
  await state("up");
  expect(smsc.binds).toHaveLength(2);
});

test("an SMSC that unbinds in the middle of a window gives its answers first, and nothing is in doubt", async () => {
  const { smsc, channel } = await openBoundSmppRig({ dial: { holdSubmits: true } });
  const outcomes = [sendThrough(channel), sendThrough(channel)];
  await smsc.until(() => smsc.submits.length === 2);
  const consent = smsc.request(0x06);
  // It has been read once this is answered.
  await smsc.request(0x15);
  smsc.release();
  expect(await Promise.all(outcomes)).toMatchObject([
    { parts: [{ kind: "sent" }] },
    { parts: [{ kind: "sent" }] },
  ]);
  expect(await consent).toMatchObject({ commandId: 0x80000006, status: 0 });
});

test("an SMSC that unbinds and does not answer is let go after 2 s", async () => {
  const { smsc, channel, clock, state } = await openBoundSmppRig({ dial: { holdSubmits: true } });
  const outcome = sendThrough(channel);
  await smsc.until(() => smsc.submits.length === 1);
  const consent = smsc.request(0x06);
  await smsc.request(0x15);
  await clock.advance(2000);
  expect(await consent).toMatchObject({ status: 0 });
  await state("down");
  expect(await outcome).toMatchObject({ parts: [{ kind: "unconfirmed" }] });
});

test("a command nobody knows is answered with generic_nack, and the session goes on", async () => {
  const { smsc, channel } = await openBoundSmppRig();
  expect(await smsc.request(0x0badc0de)).toMatchObject({ commandId: 0x80000000, status: 3 });
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
});

test("a deliver_sm that cannot be read is refused, and the session goes on", async () => {
  const { smsc, channel } = await openBoundSmppRig();
  expect(await smsc.request(0x05, Buffer.from([0, 1]))).toMatchObject({
    commandId: 0x80000005,
    status: 0xc2,
  });
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
});

test("responses to nothing are ignored", async () => {
  const { smsc, channel } = await openBoundSmppRig();
  for (const command of ["80000004", "80000015", "80000005", "8badc0de"]) {
    smsc.sendRaw(Buffer.from(`00000010${command}0000000000000063`, "hex"));
  }
  await smsc.request(0x15);
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
});

test("requests and responses of any kind and content leave the session standing", async () => {
  const { smsc, channel } = await openBoundSmppRig();
  let seed = 1;
  const below = (limit: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % limit;
  };
  const commands = [0x05, 0x103, 0x15, 0x102, 0x80000004, 0x80000015, 0x80000005, 0x04, 0x09, 0x0b, 0x77];
  for (let i = 0; i < 2000; i++) {
    const frame = Buffer.from(Array.from({ length: 16 + below(80) }, () => below(256)));
    frame.writeUInt32BE(frame.length, 0);
    frame.writeUInt32BE(commands[below(commands.length)]!, 4);
    smsc.sendRaw(frame);
  }
  await smsc.request(0x15);
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
  expect(smsc.binds).toHaveLength(1);
});

test("stop says unbind", async () => {
  const { smsc, channel } = await openBoundSmppRig();
  await channel.stop();
  expect(smsc.others.map(({ commandId }) => commandId)).toEqual([0x06]);
});
