/**
 * One SMPP session, from connecting to closing. It binds, keeps itself alive with enquire_link, submits within its window,
 * and answers the SMSC's requests. It is opened once and never reused.
 */
import type { Clock } from "../../../core/clock.ts";
import { type Connection, type ConnectionTarget, openConnection } from "./connection.ts";
import { cString } from "./octets.ts";
import {
  type Address,
  COMMAND,
  decodeDataSm,
  decodeShortMessage,
  encodeBind,
  encodePdu,
  isResponse,
  type Pdu,
  responseTo,
  type ShortMessage,
} from "./pdu.ts";
import { type Answer, createRequests, type Requests } from "./requests.ts";
import {
  ESME_RINVBNDSTS,
  ESME_RINVCMDID,
  ESME_RINVCMDLEN,
  ESME_RINVPARLEN,
  isCredentialFault,
  STATUS_OK,
  statusWord,
} from "./status-words.ts";
import { readSubmitAnswer, type SubmitAnswer } from "./submit-answer.ts";
import { createSubmitWindow, type SubmitWindow } from "./submit-window.ts";
import { createUnacknowledged, type Unacknowledged } from "./unacknowledged.ts";
import { within } from "./within.ts";

/** What a session may be used for (§2.2): to submit, to be delivered to, or both. */
export type BindRole = "transceiver" | "transmitter" | "receiver";

export interface SessionOptions extends ConnectionTarget {
  readonly role: BindRole;
  readonly systemId: string;
  readonly password: string;
  readonly systemType: string;
  readonly addressRange: Address;
  /** How many submit_sm may be unanswered at a time. */
  readonly window: number;
  readonly bindTimeoutMs: number;
  /** How long an answer to submit_sm or enquire_link may take. */
  readonly responseTimeoutMs: number;
  /** After this long without a PDU from the SMSC, enquire_link is sent. */
  readonly enquireLinkMs: number;
  readonly firstSequence?: number; // For tests. Absent: 1.
}

export interface SessionEvents {
  onBound(session: Session): void;
  /** A deliver_sm or data_sm. `acknowledge` sends its response; to be called once, at any time. */
  onMessage(message: ShortMessage, acknowledge: (status: number) => void): void;
  /** Slots may have come free, or there will be no more. */
  onSlots(): void;
  /** Called once, as the last event, also for a session that was never bound. */
  onEnd(end: SessionEnd): void;
}

export interface SessionEnd {
  /** In words for the operator. */
  readonly reason: string;
  /** The SMSC refused our system_id or password: another bind soon cannot help. */
  readonly isCredentialFault: boolean;
}

export interface Session {
  readonly slots: SubmitWindow;
  /**
   * Sends one submit_sm. The caller has taken a slot for it, and gives it back after acting on the answer. Never rejects.
   * An answer that comes after the time limit, but on this session, goes to `onLate`.
   */
  submit(body: Uint8Array, onLate?: (answer: SubmitAnswer) => void): Promise<SubmitAnswer>;
  /** Sends another request, in a slot likewise. */
  ask(commandId: number, body: Uint8Array): Promise<Answer>;
  /** Unbinds and closes, once what was delivered is acknowledged; within a few seconds. */
  unbind(reason: string): void;
  /** Closes now. */
  destroy(reason: string): void;
}

interface State {
  readonly options: SessionOptions;
  readonly events: SessionEvents;
  readonly clock: Clock;
  readonly connection: Connection;
  readonly requests: Requests;
  readonly session: Session;
  readonly unacknowledged: Unacknowledged;
  phase: "opening" | "bound" | "ended";
  isCredentialFault: boolean;
  lastHeardAt: number;
  cancelWatch: () => void;
}

/** How long each end of an unbind may take: what is under way, and the answer. */
const UNBIND_TIMEOUT_MS = 2000;

/** Connects and binds; `onBound` or `onEnd` tells how it went. */
export function openSession(options: SessionOptions, clock: Clock, events: SessionEvents): Session {
  const connection = openConnection(options, clock, {
    onOpen: () => void bind(state),
    onPdu: (pdu) => receive(state, pdu),
    onBrokenFrame: (reason) => refuseBrokenFrame(state, reason),
    onClosed: (reason) => end(state, reason),
  });
  const session: Session = {
    slots: createSubmitWindow(options.window, events.onSlots),
    submit: (body, onLate) => submit(state, body, onLate),
    ask: (commandId, body) => request(state, commandId, { body }),
    unbind: (reason) => void unbind(state, reason),
    destroy: connection.destroy,
  };
  const state: State = {
    options,
    events,
    clock,
    connection,
    session,
    unacknowledged: createUnacknowledged(),
    requests: createRequests(clock, { first: options.firstSequence }),
    phase: "opening",
    isCredentialFault: false,
    lastHeardAt: clock.monotonicMs(),
    cancelWatch: () => {},
  };
  return session;
}

// ---------------------------------------------------------------- life

const BINDS: Readonly<Record<BindRole, number>> = {
  transceiver: COMMAND.bindTransceiver,
  transmitter: COMMAND.bindTransmitter,
  receiver: COMMAND.bindReceiver,
};

async function bind(state: State): Promise<void> {
  const { options, connection } = state;
  const { role, systemId, password, systemType, addressRange: address } = options;
  const body = encodeBind({ systemId, password, systemType, address });
  const answer = await request(state, BINDS[role], { body, limitMs: options.bindTimeoutMs });
  if (answer.kind === "lost") return;
  if (answer.kind === "silent") return connection.destroy("the SMSC did not answer the bind");
  const { status } = answer.pdu;
  if (answer.pdu.commandId === COMMAND.genericNack || status !== STATUS_OK) {
    state.isCredentialFault = isCredentialFault(status);
    const word = statusWord(status);
    return connection.destroy(`the SMSC refused the bind: ${word.words} (${word.name})`);
  }
  if (state.phase !== "bound") return;
  void watch(state);
  state.events.onBound(state.session);
}

/** Sends enquire_link to a silent SMSC, and ends the session if that is not answered. */
async function watch(state: State): Promise<void> {
  if (state.phase !== "bound") return;
  const { enquireLinkMs } = state.options;
  const silentMs = state.clock.monotonicMs() - state.lastHeardAt;
  if (silentMs < enquireLinkMs) {
    state.cancelWatch = state.clock.after(enquireLinkMs - silentMs, () => void watch(state));
    return;
  }
  const answer = await request(state, COMMAND.enquireLink, {});
  if (answer.kind === "silent") state.connection.destroy("the SMSC did not answer enquire_link");
  else await watch(state);
}

async function unbind(state: State, reason: string): Promise<void> {
  const { clock, unacknowledged, connection } = state;
  await within(clock, UNBIND_TIMEOUT_MS, unacknowledged.whenNone());
  const answered = request(state, COMMAND.unbind, { limitMs: UNBIND_TIMEOUT_MS });
  // Once more: messages may have crossed the unbind.
  await within(clock, UNBIND_TIMEOUT_MS, answered.then(unacknowledged.whenNone));
  connection.end(reason);
}

function end(state: State, reason: string): void {
  state.phase = "ended";
  state.cancelWatch();
  state.session.slots.close();
  state.requests.lose(reason);
  state.events.onEnd({ reason, isCredentialFault: state.isCredentialFault });
}

// ---------------------------------------------------------------- what we ask

interface RequestOptions {
  readonly body?: Uint8Array | undefined;
  /** Absent: the response timeout. */
  readonly limitMs?: number;
  readonly onWritten?: (() => void) | undefined;
  readonly onLate?: ((pdu: Pdu) => void) | undefined;
}

function request(state: State, commandId: number, { body, onWritten, onLate, ...options }: RequestOptions) {
  const limitMs = options.limitMs ?? state.options.responseTimeoutMs;
  const { sequence, answer } = state.requests.begin(commandId, limitMs, onLate);
  state.connection.write(encodePdu({ commandId, sequence, body }), onWritten);
  return answer;
}

function submit(
  state: State,
  body: Uint8Array,
  onLate?: (answer: SubmitAnswer) => void,
): Promise<SubmitAnswer> {
  let wasWritten = false;
  const onWritten = () => {
    wasWritten = true;
  };
  const onLatePdu = onLate && ((pdu: Pdu) => onLate(readSubmitAnswer(pdu)));
  return request(state, COMMAND.submitSm, { body, onWritten, onLate: onLatePdu }).then((answer) => {
    if (answer.kind === "answered") return readSubmitAnswer(answer.pdu);
    return answer.kind === "lost" ? { ...answer, wasWritten } : answer;
  });
}

// ---------------------------------------------------------------- what the SMSC says

function receive(state: State, pdu: Pdu): void {
  state.lastHeardAt = state.clock.monotonicMs();
  if (isResponse(pdu)) receiveResponse(state, pdu);
  else receiveRequest(state, pdu);
}

function receiveRequest(state: State, pdu: Pdu): void {
  switch (pdu.commandId) {
    case COMMAND.enquireLink:
      respond(state, pdu, { status: STATUS_OK });
      break;
    case COMMAND.deliverSm:
      receiveMessage(state, pdu, decodeShortMessage(pdu.body));
      break;
    case COMMAND.dataSm:
      receiveMessage(state, pdu, decodeDataSm(pdu.body));
      break;
    case COMMAND.unbind:
      void answerUnbind(state, pdu);
      break;
    case COMMAND.alertNotification:
      break; // It has no response (§4.12), and nothing here waits for a handset to come back.
    default:
      nack(state, { status: ESME_RINVCMDID, sequence: pdu.sequence });
  }
}

/**
 * Answers unbind, but first waits a while for the answers still under way in both directions: the SMSC may have taken those
 * messages, and delivers again what is not acknowledged.
 */
async function answerUnbind(state: State, pdu: Pdu): Promise<void> {
  const { session, unacknowledged, clock } = state;
  session.slots.close();
  await within(clock, UNBIND_TIMEOUT_MS, session.slots.drained().then(unacknowledged.whenNone));
  respond(state, pdu, { status: STATUS_OK });
  state.connection.end("the SMSC unbound");
}

function receiveResponse(state: State, pdu: Pdu): void {
  const isAnswer = state.requests.answer(pdu);
  // Here and not in `bind`, which resumes later: receipts may follow the answer to the bind in the same read.
  const isBindAnswer = isAnswer && pdu.commandId === responseTo(BINDS[state.options.role]);
  if (isBindAnswer && pdu.status === STATUS_OK) state.phase = "bound";
  if (isAnswer || pdu.commandId !== COMMAND.genericNack) return;
  // A nack of no known request, or of sequence 0: the SMSC cannot tell any more where our PDUs begin.
  if (pdu.status === ESME_RINVCMDLEN) state.connection.destroy("the SMSC could not read our PDUs");
}

function receiveMessage(state: State, pdu: Pdu, message: ShortMessage | undefined): void {
  const acknowledge = (status: number) => respond(state, pdu, { status, body: EMPTY_MESSAGE_ID });
  if (state.phase !== "bound") acknowledge(ESME_RINVBNDSTS);
  else if (!message) acknowledge(ESME_RINVPARLEN);
  else state.events.onMessage(message, state.unacknowledged.add(acknowledge));
}

/** The message_id of deliver_sm_resp and data_sm_resp is unused, and NUL (§4.6.2). */
const EMPTY_MESSAGE_ID = cString("");

function respond(state: State, pdu: Pdu, answer: { status: number; body?: Uint8Array }): void {
  const { commandId, sequence } = pdu;
  state.connection.write(encodePdu({ commandId: responseTo(commandId), sequence, ...answer }));
}

function nack(state: State, { status, sequence }: { status: number; sequence: number }): void {
  state.connection.write(encodePdu({ commandId: COMMAND.genericNack, status, sequence }));
}

/** A generic_nack has sequence_number 0 where that of the PDU could not be read (§4.3). What was written still goes out. */
function refuseBrokenFrame(state: State, reason: string): void {
  nack(state, { status: ESME_RINVCMDLEN, sequence: 0 });
  state.session.slots.close();
  state.connection.end(reason);
}
