/**
 * One SMPP session, from connecting to closing. It binds, stays alive with enquire_link, submits within its window, and answers
 * the SMSC's requests (`session-receive.ts`). A session is opened once and never reused.
 */
import type { Clock } from "../../../../core/clock.ts";
import { present } from "../../../../core/present.ts";
import { inTime } from "../../../../core/work/in-time.ts";
import { type ConnectionTarget, openConnection } from "../wire/connection.ts";
import { type Address, COMMAND, encodeBind, encodePdu, type Pdu, type ShortMessage } from "../wire/pdu.ts";
import { ESME_RINVCMDID, isCredentialFault, STATUS_OK, statusWord } from "../wire/status-words.ts";
import { createOverdue, giveUpAfterMs } from "./overdue.ts";
import { type Answer, createRequests } from "./requests.ts";
import { receive, refuseBrokenFrame } from "./session-receive.ts";
import { BIND_COMMANDS, type SessionState, UNBIND_LIMIT } from "./session-state.ts";
import { readSubmitAnswer, type SubmitAnswer } from "./submit-answer.ts";
import { createSubmitWindow, type SubmitWindow } from "./submit-window.ts";
import { createUnacknowledged } from "./unacknowledged.ts";

/** What a session is for (§2.2): submitting, receiving deliveries, or both. */
export type BindRole = "transceiver" | "transmitter" | "receiver";

export interface SessionOptions extends ConnectionTarget {
  readonly role: BindRole;
  readonly systemId: string;
  readonly password: string;
  readonly systemType: string;
  readonly interfaceVersion: number;
  readonly addressRange: Address;
  /** How many submit_sm may be unanswered at a time, at present. */
  readonly window: () => number;
  readonly bindTimeoutMs: number;
  /** How long an answer to submit_sm or enquire_link may take. */
  readonly responseTimeoutMs: number;
  /** After how long without a PDU from the SMSC enquire_link is sent. */
  readonly enquireLinkMs: number;
  readonly firstSequence?: number; // For tests. Absent: 1.
}

export interface SessionEvents {
  onBound(session: Session): void;
  /** A deliver_sm or data_sm has come. `acknowledge` sends its response, and is to be called once, at any time. */
  onMessage(message: ShortMessage, acknowledge: (status: number) => void): void;
  /** Slots may have become free, or there will be no more. */
  onSlots(): void;
  /** The session has ended. Called once, as the last event, even for a session that was never bound. */
  onEnd(end: SessionEnd): void;
}

export interface SessionEnd {
  /** In words for the operator. */
  readonly reason: string;
  /** The SMSC refused our system_id, password or system_type, so binding again soon cannot help. */
  readonly isCredentialFault: boolean;
  /** The SMSC has read what was written until then, on the monotonic clock, since it answered our unbind. */
  readonly readUntilMs?: number;
  /** Present if we were leaving it: we had begun to unbind, or it had fallen silent. */
  readonly wasLeft?: true;
}

export interface Session extends Pick<SessionOptions, "responseTimeoutMs"> {
  readonly slots: SubmitWindow;
  /**
   * Sends one submit_sm. The caller has taken a slot for it, and gives that back after acting on the answer. Never rejects. An
   * answer that comes after the time limit, but still on this session, goes to `onLate`, which resolves once it is recorded: until
   * then the same message may be tried again.
   */
  submit(body: Uint8Array, onLate?: (answer: SubmitAnswer) => Promise<void>): Promise<SubmitAnswer>;
  /** Sends another request, for which the caller has taken a slot too. */
  ask(commandId: number, body: Uint8Array): Promise<Answer>;
  /** Unbinds and closes once everything that was delivered has been acknowledged; within a few seconds. */
  unbind(reason: string): void;
  /** Closes now. */
  destroy(reason: string): void;
}

/** Connects and binds; `onBound` or `onEnd` tells how it went. */
export function openSession(options: SessionOptions, clock: Clock, events: SessionEvents): Session {
  const connection = openConnection(options, clock, {
    onOpen: () => void bind(state),
    onPdu: (pdu) => receive(state, pdu),
    onBrokenFrame: (reason) => refuseBrokenFrame(state, reason),
    onClosed: (reason) => end(state, reason),
  });
  const limitMs = options.responseTimeoutMs;
  const overdue = createOverdue({ clock, limitMs, onRoom: events.onSlots });
  const session: Session = {
    responseTimeoutMs: options.responseTimeoutMs,
    slots: createSubmitWindow(() => overdue.room(options.window()), events.onSlots),
    submit: (body, onLate) => submit(state, body, onLate),
    ask: (commandId, body) => request(state, commandId, { body }),
    unbind: (reason) => void unbind(state, reason),
    destroy: connection.destroy,
  };
  const state: SessionState = {
    options,
    events,
    clock,
    connection,
    session,
    overdue,
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

async function bind(state: SessionState): Promise<void> {
  const { options, connection } = state;
  const { role, systemId, password, systemType, interfaceVersion, addressRange: address } = options;
  const body = encodeBind({ systemId, password, systemType, interfaceVersion, address });
  const answer = await request(state, BIND_COMMANDS[role], { body, limitMs: options.bindTimeoutMs });
  if (answer.kind === "lost") return;
  if (answer.kind === "silent") return connection.destroy("the SMSC did not answer the bind");
  const { status } = answer.pdu;
  if (answer.pdu.commandId === COMMAND.genericNack || status !== STATUS_OK) {
    state.isCredentialFault = isCredentialFault(status);
    return connection.destroy(`the SMSC refused the bind: ${refusalWords(role, status)}`);
  }
  if (state.phase !== "bound") return;
  void watch(state);
  state.events.onBound(state.session);
}

/** With what to do, where it is the command that the SMSC does not know: 3.3 has no bind_transceiver. */
function refusalWords(role: BindRole, status: number): string {
  const { words, name } = statusWord(status);
  const isUnknown = role === "transceiver" && status === ESME_RINVCMDID;
  return `${words} (${name})${isUnknown ? "; `bind` may have to be transmitter_receiver" : ""}`;
}

/**
 * Sends enquire_link when the SMSC has been silent, and ends the session if it stays so. An SMSC that says anything else instead of
 * answering is alive: ending its session would leave what is in the window in doubt.
 */
async function watch(state: SessionState): Promise<void> {
  if (state.phase !== "bound") return;
  const { enquireLinkMs } = state.options;
  const heardAt = state.lastHeardAt;
  const silentMs = state.clock.monotonicMs() - heardAt;
  if (silentMs < enquireLinkMs) {
    state.cancelWatch = state.clock.after(enquireLinkMs - silentMs, () => void watch(state));
    return;
  }
  const answer = await request(state, COMMAND.enquireLink, {});
  if (answer.kind === "silent" && state.lastHeardAt === heardAt) {
    state.wasLeft = true;
    state.connection.destroy("the SMSC did not answer enquire_link");
  } else await watch(state);
}

async function unbind(state: SessionState, reason: string): Promise<void> {
  const { clock, unacknowledged, connection } = state;
  state.wasLeft = true;
  await inTime(clock, UNBIND_LIMIT, unacknowledged.whenNone());
  const writtenMs = clock.monotonicMs();
  const answered = request(state, COMMAND.unbind, { limitMs: UNBIND_LIMIT.limitMs }).then(({ kind }) => {
    if (kind === "answered") state.readUntilMs = writtenMs;
  });
  // Again, since messages may have crossed the unbind.
  await inTime(clock, UNBIND_LIMIT, answered.then(unacknowledged.whenNone));
  connection.end(reason);
}

function end(state: SessionState, reason: string): void {
  state.phase = "ended";
  state.cancelWatch();
  state.overdue.end();
  state.session.slots.close();
  state.requests.lose(reason);
  const { isCredentialFault, readUntilMs, wasLeft } = state;
  state.events.onEnd({ reason, isCredentialFault, ...present({ readUntilMs, wasLeft }) });
}

// ---------------------------------------------------------------- what we ask

interface RequestOptions {
  readonly body?: Uint8Array | undefined;
  /** Absent: the response timeout. */
  readonly limitMs?: number;
  readonly onWritten?: (() => void) | undefined;
  readonly onLate?: ((pdu: Pdu) => void) | undefined;
}

function request(
  state: SessionState,
  commandId: number,
  { body, onWritten, onLate, ...options }: RequestOptions,
) {
  const limitMs = options.limitMs ?? state.options.responseTimeoutMs;
  const { sequence, answer } = state.requests.begin(commandId, limitMs, onLate);
  state.connection.write(encodePdu({ commandId, sequence, body }), onWritten);
  return answer;
}

function submit(
  state: SessionState,
  body: Uint8Array,
  onLate?: (answer: SubmitAnswer) => Promise<void>,
): Promise<SubmitAnswer> {
  const heardAt = state.lastHeardAt;
  let wasWritten = false;
  const onWritten = () => {
    wasWritten = true;
  };
  const sent = state.overdue.begin();
  const onLatePdu = async (pdu: Pdu) => {
    await onLate?.(readSubmitAnswer(pdu));
    sent.answered(pdu.status === STATUS_OK);
  };
  return request(state, COMMAND.submitSm, { body, onWritten, onLate: onLatePdu }).then((answer) => {
    if (answer.kind === "lost") return { ...answer, wasWritten };
    if (answer.kind === "answered") {
      sent.answered(answer.pdu.status === STATUS_OK);
      return readSubmitAnswer(answer.pdu);
    }
    if (sent.missed()) giveUp(state);
    else if (state.lastHeardAt === heardAt) askForLife(state);
    return answer;
  });
}

/** It may be this session that the SMSC no longer serves, or one of several hosts behind its name. */
function giveUp(state: SessionState): void {
  const { session, options } = state;
  if (!session.slots.isOpen()) return;
  session.slots.close();
  const seconds = Math.round(giveUpAfterMs(options.responseTimeoutMs) / 1000);
  void unbind(state, `the SMSC has answered no submit_sm for ${seconds} s`);
}

/**
 * The SMSC has said nothing since a submit_sm that it did not answer in time. Until it says anything it is handed no more: if the
 * connection is dead, which `watch` finds out later, all of that would be in doubt as well.
 */
function askForLife(state: SessionState): void {
  const { slots } = state.session;
  if (slots.isResting()) return;
  slots.rest();
  void request(state, COMMAND.enquireLink, {});
}
