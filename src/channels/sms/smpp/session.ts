/**
 * One SMPP session: a connection, bound, from its first octet to its last. It binds, keeps
 * itself alive, submits within its window, and answers what the SMSC asks. It is opened once and never reused.
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
import { within } from "./within.ts";

/** What a session may be used for (§2.2): to submit, to be delivered to, or both. */
export type BindRole = "transceiver" | "transmitter" | "receiver";

export interface SessionOptions extends ConnectionTarget {
  readonly role: BindRole;
  readonly systemId: string;
  readonly password: string;
  readonly systemType: string;
  readonly addressRange: Address;
  /** submit_sm that may be unanswered at a time. */
  readonly window: number;
  readonly bindTimeoutMs: number;
  /** How long an answer to submit_sm or enquire_link may take. */
  readonly responseTimeoutMs: number;
  /** Silence of the SMSC after which it is asked whether it is still there. */
  readonly enquireLinkMs: number;
}

export interface SessionEvents {
  onBound(session: Session): void;
  /** A deliver_sm or data_sm. `acknowledge` sends its response; once, whenever the time has come. */
  onMessage(message: ShortMessage, acknowledge: (status: number) => void): void;
  /** Slots may have come free, or there will be no more. */
  onSlots(): void;
  /** Once, last, also for a session that was never bound. */
  onEnd(end: SessionEnd): void;
}

export interface SessionEnd {
  /** In words for the operator. */
  readonly reason: string;
  /** The SMSC refused who we are: asking again soon cannot help. */
  readonly isCredentialFault: boolean;
}

export interface Session {
  readonly slots: SubmitWindow;
  /**
   * Sends one submit_sm, for which the caller has taken a slot, and gives it back when it has heeded the answer. Never
   * rejects. An answer that is out of time goes to `onLate`, if it comes on this session.
   */
  submit(body: Uint8Array, onLate?: (answer: SubmitAnswer) => void): Promise<SubmitAnswer>;
  /** Sends another request, likewise. */
  ask(commandId: number, body: Uint8Array): Promise<Answer>;
  /** Says goodbye and closes. Resolves when closed, after a few seconds at most. */
  unbind(reason: string): Promise<void>;
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
  phase: "opening" | "bound" | "ended";
  isCredentialFault: boolean;
  lastHeardAt: number;
  cancelWatch: () => void;
}

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
    ask: (commandId, body) => ask(state, commandId, { body }),
    unbind: (reason) => unbind(state, reason),
    destroy: connection.destroy,
  };
  const state: State = {
    options,
    events,
    clock,
    connection,
    session,
    requests: createRequests(clock),
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

/** Asks a silent SMSC whether it is there, and gives the session up if it does not say so. */
async function watch(state: State): Promise<void> {
  if (state.phase !== "bound") return;
  const { enquireLinkMs, responseTimeoutMs } = state.options;
  const silentMs = state.clock.monotonicMs() - state.lastHeardAt;
  if (silentMs < enquireLinkMs) {
    state.cancelWatch = state.clock.after(enquireLinkMs - silentMs, () => void watch(state));
    return;
  }
  const answer = await request(state, COMMAND.enquireLink, { limitMs: responseTimeoutMs });
  if (answer.kind === "silent") state.connection.destroy("the SMSC did not answer enquire_link");
  if (answer.kind === "answered") await watch(state);
}

async function unbind(state: State, reason: string): Promise<void> {
  if (state.phase === "bound") await request(state, COMMAND.unbind, { limitMs: UNBIND_TIMEOUT_MS });
  state.connection.destroy(reason);
}

function end(state: State, reason: string): void {
  if (state.phase === "ended") return;
  state.phase = "ended";
  state.cancelWatch();
  state.session.slots.close();
  state.requests.lose(reason);
  state.events.onEnd({ reason, isCredentialFault: state.isCredentialFault });
}

// ---------------------------------------------------------------- what we ask

interface RequestOptions {
  readonly body?: Uint8Array | undefined;
  readonly limitMs: number;
  readonly onWritten?: (() => void) | undefined;
  readonly onLate?: ((pdu: Pdu) => void) | undefined;
}

type AskOptions = Omit<RequestOptions, "limitMs">;

function request(state: State, commandId: number, { body, limitMs, onWritten, onLate }: RequestOptions) {
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
  return ask(state, COMMAND.submitSm, { body, onWritten, onLate: onLatePdu }).then((answer): SubmitAnswer => {
    if (answer.kind === "silent") return { kind: "silent" };
    return answer.kind === "lost" ? { ...answer, wasWritten } : readSubmitAnswer(answer.pdu);
  });
}

function ask(state: State, commandId: number, { body, onWritten, onLate }: AskOptions) {
  const limitMs = state.options.responseTimeoutMs;
  return request(state, commandId, { body, limitMs, onWritten, onLate });
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
      void heedUnbind(state, pdu);
      break;
    case COMMAND.alertNotification:
      break; // It has no response (§4.12), and nothing here waits for a handset to come back.
    default:
      nack(state, { status: ESME_RINVCMDID, sequence: pdu.sequence });
  }
}

/** What the SMSC still owes an answer to it may have taken: our consent to part waits for that, a while. */
async function heedUnbind(state: State, pdu: Pdu): Promise<void> {
  const { slots } = state.session;
  slots.close();
  await within(state.clock, UNBIND_TIMEOUT_MS, slots.drained());
  respond(state, pdu, { status: STATUS_OK });
  state.connection.end("the SMSC unbound");
}

function receiveResponse(state: State, pdu: Pdu): void {
  const isAnswer = state.requests.answer(pdu);
  // At once: receipts that waited for us follow the answer to the bind in the same octets.
  const isBound =
    isAnswer && pdu.commandId === responseTo(BINDS[state.options.role]) && pdu.status === STATUS_OK;
  if (isBound && state.phase === "opening") state.phase = "bound";
  if (isAnswer || pdu.commandId !== COMMAND.genericNack) return;
  // A nack for nothing we remember, or for sequence 0: the SMSC has lost its place in our stream.
  if (pdu.status === ESME_RINVCMDLEN) state.connection.destroy("the SMSC could not read our PDUs");
}

function receiveMessage(state: State, pdu: Pdu, message: ShortMessage | undefined): void {
  const acknowledge = (status: number) => respond(state, pdu, { status, body: EMPTY_MESSAGE_ID });
  if (state.phase !== "bound") acknowledge(ESME_RINVBNDSTS);
  else if (!message) acknowledge(ESME_RINVPARLEN);
  else state.events.onMessage(message, acknowledge);
}

/** deliver_sm_resp and data_sm_resp carry a message_id that is always empty from our side (§4.6.2). */
const EMPTY_MESSAGE_ID = cString("");

function respond(
  state: State,
  pdu: Pdu,
  { status, body }: { status: number; body?: Uint8Array | undefined },
): void {
  if (state.phase === "ended") return;
  const { commandId, sequence } = pdu;
  state.connection.write(encodePdu({ commandId: responseTo(commandId), status, sequence, body }));
}

function nack(state: State, { status, sequence }: { status: number; sequence: number }): void {
  state.connection.write(encodePdu({ commandId: COMMAND.genericNack, status, sequence }));
}

/** §4.3: the sequence number of a PDU that could not be read is given as 0. What was written still goes out. */
function refuseBrokenFrame(state: State, reason: string): void {
  nack(state, { status: ESME_RINVCMDLEN, sequence: 0 });
  state.session.slots.close();
  state.connection.end(reason);
}
