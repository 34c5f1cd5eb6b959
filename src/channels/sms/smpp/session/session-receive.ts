/** Handles the PDUs that a session receives: passes on answers to its own requests, and answers requests of the SMSC. */
import { inTime } from "../../../../core/work/in-time.ts";
import { cString } from "../wire/octets.ts";
import {
  COMMAND,
  decodeDataSm,
  decodeShortMessage,
  encodePdu,
  isResponse,
  type Pdu,
  responseTo,
  type ShortMessage,
} from "../wire/pdu.ts";
import {
  ESME_RINVBNDSTS,
  ESME_RINVCMDID,
  ESME_RINVCMDLEN,
  ESME_RINVPARLEN,
  STATUS_OK,
} from "../wire/status-words.ts";
import { BIND_COMMANDS, type SessionState, UNBIND_LIMIT } from "./session-state.ts";

/** Handles one PDU from the SMSC. */
export function receive(state: SessionState, pdu: Pdu): void {
  state.lastHeardAt = state.clock.monotonicMs();
  state.session.slots.wake();
  if (isResponse(pdu)) receiveResponse(state, pdu);
  else receiveRequest(state, pdu);
}

function receiveRequest(state: SessionState, pdu: Pdu): void {
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
 * Answers unbind, but first waits a while for outstanding answers in both directions: the SMSC may have taken those messages, and
 * would deliver again what is not acknowledged.
 */
async function answerUnbind(state: SessionState, pdu: Pdu): Promise<void> {
  const { session, unacknowledged, clock } = state;
  session.slots.close();
  await inTime(clock, UNBIND_LIMIT, session.slots.drained().then(unacknowledged.whenNone));
  respond(state, pdu, { status: STATUS_OK });
  state.connection.end("the SMSC unbound");
}

function receiveResponse(state: SessionState, pdu: Pdu): void {
  const isAnswer = state.requests.answer(pdu);
  // Here and not in `bind`, which resumes later: receipts may follow the answer to the bind in the same read.
  const isBindAnswer = isAnswer && pdu.commandId === responseTo(BIND_COMMANDS[state.options.role]);
  if (isBindAnswer && pdu.status === STATUS_OK) state.phase = "bound";
  if (isAnswer || pdu.commandId !== COMMAND.genericNack) return;
  // A nack of no known request, or of sequence 0, with this status: the SMSC no longer knows where our PDUs begin.
  if (pdu.status === ESME_RINVCMDLEN) state.connection.destroy("the SMSC could not read our PDUs");
}

function receiveMessage(state: SessionState, pdu: Pdu, message: ShortMessage | undefined): void {
  const acknowledge = (status: number) => respond(state, pdu, { status, body: EMPTY_MESSAGE_ID });
  if (state.phase !== "bound") acknowledge(ESME_RINVBNDSTS);
  else if (!message) acknowledge(ESME_RINVPARLEN);
  else state.events.onMessage(message, state.unacknowledged.add(acknowledge));
}

/** The message_id of deliver_sm_resp and data_sm_resp, which is unused and set to NUL (§4.6.2). */
const EMPTY_MESSAGE_ID = cString("");

function respond(state: SessionState, pdu: Pdu, answer: { status: number; body?: Uint8Array }): void {
  const { commandId, sequence } = pdu;
  state.connection.write(encodePdu({ commandId: responseTo(commandId), sequence, ...answer }));
}

function nack(state: SessionState, { status, sequence }: { status: number; sequence: number }): void {
  state.connection.write(encodePdu({ commandId: COMMAND.genericNack, status, sequence }));
}

/** Answers with a generic_nack of sequence_number 0, since the PDU's could not be read (§4.3), and closes after pending writes. */
export function refuseBrokenFrame(state: SessionState, reason: string): void {
  nack(state, { status: ESME_RINVCMDLEN, sequence: 0 });
  state.session.slots.close();
  state.connection.end(reason);
}
