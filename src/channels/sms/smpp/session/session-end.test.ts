/** What is left of a session when it ends: nothing that runs, and nothing that was delivered and not answered. */
import { afterEach, expect, test } from "bun:test";
import * as net from "node:net";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import { createSignals } from "../../../../../test/fakes/signals.ts";
import { createFrameReader } from "../wire/frame-reader.ts";
import { COMMAND, encodePdu, encodeShortMessage, type Pdu, responseTo } from "../wire/pdu.ts";
import { openSession, type SessionEnd } from "./session.ts";

const closing: (() => void)[] = [];

afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const nobody = { ton: 0, npi: 0, address: "" };
const response = ({ commandId, sequence }: Pdu, status = 0) =>
  encodePdu({ commandId: responseTo(commandId), status, sequence });
const nack = (status: number, sequence: number) =>
  encodePdu({ commandId: COMMAND.genericNack, status, sequence });
/** Our PDUs can no longer be told apart, says the SMSC; a session ends by that at once. */
const LOST_TRACK = nack(0x02, 0);

const MESSAGE = encodeShortMessage({
  source: nobody,
  destination: nobody,
  esmClass: 0,
  validityPeriod: "",
  registeredDelivery: 0,
  dataCoding: 0,
  shortMessage: Buffer.from("hi"),
  tlvs: new Map(),
});
const DELIVERY = encodePdu({ commandId: COMMAND.deliverSm, sequence: 77, body: MESSAGE });

/** A session with a peer that answers what `answer` says, and otherwise nothing. */
async function open(answer: (pdu: Pdu) => Uint8Array | undefined, { isHalfOpen = false } = {}) {
  const clock = createHeldClock();
  const { tell, until } = createSignals();
  const heard: Pdu[] = [];
  const ends: SessionEnd[] = [];
  const acknowledge: ((status: number) => void)[] = [];
  let bound = 0;
  let peer: net.Socket | undefined;
  const server = net.createServer({ allowHalfOpen: isHalfOpen }, (socket) => {
    peer = socket;
    const frames = createFrameReader((pdu) => {
      heard.push(pdu);
      const octets = answer(pdu);
      if (octets) socket.write(octets);
      tell();
    });
    socket.on("data", (chunk: Buffer) => frames.push(chunk));
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const session = openSession(
    {
      host: "127.0.0.1",
      port: (server.address() as net.AddressInfo).port,
      connectTimeoutMs: 10_000,
      bindTimeoutMs: 30_000,
      responseTimeoutMs: 60_000,
      enquireLinkMs: 30_000,
      role: "transceiver",
      systemId: "rider",
      password: "secret",
      systemType: "",
      interfaceVersion: 0x34,
      addressRange: nobody,
      window: () => 2,
    },
    clock,
    {
      onBound() {
        bound++;
        tell();
      },
      onMessage(_, give) {
        acknowledge.push(give);
        tell();
      },
      onSlots() {},
      onEnd(end) {
        ends.push(end);
        tell();
      },
    },
  );
  closing.push(() => {
    session.destroy("over");
    server.close();
  });
  const send = (octets: Uint8Array) => peer!.write(octets);
  return { session, clock, until, heard, ends, acknowledge, bound: () => bound, send };
}

const isBind = ({ commandId }: Pdu) => commandId === COMMAND.bindTransceiver;
const answerBind = (pdu: Pdu) => (isBind(pdu) ? response(pdu) : undefined);
const commands = (pdus: readonly Pdu[]) => pdus.map(({ commandId }) => commandId).slice(1);

async function openBound(...[answer = answerBind, options]: Partial<Parameters<typeof open>>) {
  const rig = await open(answer, options);
  await rig.until(() => rig.bound() === 1);
  return rig;
}

test("a bind answered with generic_nack is refused, whatever its status", async () => {
  const { ends, until, bound, clock } = await open((pdu) => nack(0, pdu.sequence));
  await until(() => ends.length === 1);
  expect(ends[0]!.reason).toStartWith("the SMSC refused the bind");
  expect(bound()).toBe(0);
  expect(clock.pending()).toBe(0);
});

test("an answer to a bind that nobody sent binds nothing: what is delivered then is refused", async () => {
  const { heard, until, bound, acknowledge } = await open((pdu) =>
    isBind(pdu) ? Buffer.concat([response({ ...pdu, sequence: 99 }), DELIVERY]) : undefined,
  );
  await until(() => heard.length === 2);
  expect(heard[1]).toMatchObject({ commandId: responseTo(COMMAND.deliverSm), status: 0x04, sequence: 77 });
  expect([bound(), acknowledge.length]).toEqual([0, 0]);
});

test("what is delivered in the read of a refused bind is refused", async () => {
  const { heard, until, bound, acknowledge, ends } = await open((pdu) =>
    isBind(pdu) ? Buffer.concat([response(pdu, 0x0d), DELIVERY]) : undefined,
  );
  await until(() => ends.length === 1);
  expect(heard).toHaveLength(1);
  expect([bound(), acknowledge.length]).toEqual([0, 0]);
});

test("a nack of a known request ends that request alone, and a stray response nothing", async () => {
  const { session, until, send, heard, ends } = await openBound();
  const answer = session.submit(MESSAGE);
  await until(() => heard.length === 2);
  const stray = encodePdu({ commandId: responseTo(COMMAND.submitSm), status: 0x02, sequence: 500 });
  const enquireLink = encodePdu({ commandId: COMMAND.enquireLink, sequence: 78 });
  send(Buffer.concat([stray, nack(0x02, heard[1]!.sequence), enquireLink]));
  expect(await answer).toEqual({ kind: "nacked", status: 0x02 });
  await until(() => heard.length === 3);
  expect(ends).toEqual([]);
});

test("a session that ends in the read of the answer to its bind was never bound", async () => {
  const { ends, until, bound, clock } = await open((pdu) => Buffer.concat([response(pdu), LOST_TRACK]));
  await until(() => ends.length === 1);
  await clock.advance(600_000);
  expect(bound()).toBe(0);
  expect(ends).toHaveLength(1);
});

test("no timer outlives a session, not even where it ends in the read of the answer to enquire_link", async () => {
  const { ends, until, clock, send, heard } = await openBound();
  await clock.advance(30_000);
  await until(() => heard.length === 2);
  send(Buffer.concat([response(heard[1]!), LOST_TRACK]));
  await until(() => ends.length === 1);
  await clock.advance(0);
  expect(clock.pending()).toBe(0);
});

test("a session that is lost while nothing is under way leaves no timer and no slot", async () => {
  const { session, ends, until, clock, send } = await openBound();
  expect(session.slots.free()).toBe(2);
  send(LOST_TRACK);
  await until(() => ends.length === 1);
  await session.slots.drained();
  expect(session.slots.free()).toBe(0);
  expect(clock.pending()).toBe(0);
});

test("a submit_sm that had not left this process is known not to have", async () => {
  const { session, until, heard, ends } = await openBound();
  const [early, late] = [session.submit(MESSAGE), session.submit(MESSAGE)];
  session.destroy("gone");
  const unsent = { kind: "lost", reason: "gone", wasWritten: false } as const;
  expect(await Promise.all([early, late, session.submit(MESSAGE)])).toEqual([unsent, unsent, unsent]);
  await until(() => ends.length === 1);
  expect(commands(heard)).toEqual([]);
});

test("an SMSC that unbinds first gets the acknowledgement of what it has delivered", async () => {
  const { until, send, heard, acknowledge, ends, clock } = await openBound();
  send(Buffer.concat([DELIVERY, encodePdu({ commandId: COMMAND.unbind, sequence: 78 })]));
  await until(() => acknowledge.length === 1);
  await clock.advance(1999);
  acknowledge[0]!(0);
  await until(() => ends.length === 1);
  expect(commands(heard)).toEqual([responseTo(COMMAND.deliverSm), responseTo(COMMAND.unbind)]);
  expect(clock.pending()).toBe(0);
});

test("an SMSC that unbinds is not kept waiting for what nobody acknowledges", async () => {
  const { until, send, heard, acknowledge, ends, clock } = await openBound();
  send(Buffer.concat([DELIVERY, encodePdu({ commandId: COMMAND.unbind, sequence: 78 })]));
  await until(() => acknowledge.length === 1);
  await clock.advance(2000);
  await until(() => ends.length === 1);
  expect(commands(heard)).toEqual([responseTo(COMMAND.unbind)]);
  acknowledge[0]!(0);
});

test("a session is left once all that was delivered is acknowledged, and what crosses the unbind is too", async () => {
  const { session, until, send, heard, acknowledge, ends, clock } = await openBound((pdu) =>
    pdu.commandId === COMMAND.unbind ? Buffer.concat([DELIVERY, response(pdu)]) : answerBind(pdu),
  );
  send(Buffer.concat([DELIVERY, DELIVERY]));
  await until(() => acknowledge.length === 2);
  session.unbind("over");
  acknowledge[0]!(0);
  await clock.advance(1999);
  const answered = responseTo(COMMAND.deliverSm);
  await until(() => commands(heard).length > 0);
  expect(commands(heard)).toEqual([answered]);
  acknowledge[1]!(0);
  await until(() => acknowledge.length === 3);
  expect(ends).toEqual([]);
  const readUntilMs = clock.monotonicMs();
  await clock.advance(1);
  acknowledge[2]!(0);
  await until(() => ends.length === 1);
  expect(ends).toMatchObject([{ reason: "over", readUntilMs }]);
  expect(commands(heard)).toEqual([answered, answered, COMMAND.unbind, answered]);
  expect(clock.pending()).toBe(0);
});

test("a session is left within seconds where nothing is acknowledged and unbind gets no answer", async () => {
  const { session, until, send, acknowledge, heard, ends, clock } = await openBound();
  send(DELIVERY);
  await until(() => acknowledge.length === 1);
  session.unbind("over");
  await clock.advance(2000);
  await until(() => heard.length === 2);
  expect(commands(heard)).toEqual([COMMAND.unbind]);
  await clock.advance(2000);
  await until(() => ends.length === 1);
  expect(ends).toEqual([{ reason: "over", isCredentialFault: false, wasLeft: true }]);
  expect(clock.pending()).toBe(0);
});

test("a session that has fallen silent was left by us", async () => {
  const { until, ends, clock } = await openBound();
  await clock.advance(90_000);
  await until(() => ends.length === 1);
  expect(ends).toMatchObject([{ reason: "the SMSC did not answer enquire_link", wasLeft: true }]);
});

test("what follows in the read that ended a session is not taken", async () => {
  const { until, send, ends, acknowledge, clock } = await openBound();
  send(Buffer.concat([LOST_TRACK, DELIVERY]));
  await until(() => ends.length === 1);
  await clock.advance(0);
  expect(acknowledge).toEqual([]);
});

test("where PDUs can no longer be told apart, nothing is submitted any more while the session ends", async () => {
  const { session, until, send, heard, ends, clock } = await openBound(answerBind, { isHalfOpen: true });
  send(Buffer.from("HTTP/1.1 400 Bad Request"));
  await until(() => heard.length === 2);
  expect(commands(heard)).toEqual([COMMAND.genericNack]);
  expect(session.slots.free()).toBe(0);
  expect(ends).toEqual([]);
  await clock.advance(1000);
  await until(() => ends.length === 1);
  expect(clock.pending()).toBe(0);
});

test("alert_notification has no response, and is no unknown command", async () => {
  const { until, send, heard } = await openBound();
  const [alert, enquireLink] = [COMMAND.alertNotification, COMMAND.enquireLink].map((commandId) =>
    encodePdu({ commandId, sequence: 78 }),
  );
  send(Buffer.concat([alert!, enquireLink!]));
  await until(() => heard.length === 2);
  expect(commands(heard)).toEqual([responseTo(COMMAND.enquireLink)]);
});

test("an answer in the last moment of a session counts, whatever else the SMSC says by then", async () => {
  const { session, until, send, heard, ends, clock } = await openBound(answerBind, { isHalfOpen: true });
  const answer = session.submit(MESSAGE);
  session.slots.take();
  await until(() => heard.length === 2);
  const [unbind, enquireLink] = [COMMAND.unbind, COMMAND.enquireLink].map((commandId, index) =>
    encodePdu({ commandId, sequence: 78 + index }),
  );
  send(Buffer.concat([unbind!, enquireLink!]));
  await until(() => heard.length === 3);
  expect(session.slots.free()).toBe(0);
  await clock.advance(2000);
  await until(() => heard.length === 4);
  send(enquireLink!);
  await clock.advance(0);
  send(response(heard[1]!));
  expect(await answer).toMatchObject({ kind: "answered" });
  await clock.advance(1000);
  await until(() => ends.length === 1);
  expect(ends).toEqual([{ reason: "the SMSC unbound", isCredentialFault: false }]);
});
