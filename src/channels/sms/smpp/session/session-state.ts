import type { Clock } from "../../../../core/clock.ts";
import type { Connection } from "../wire/connection.ts";
import { COMMAND } from "../wire/pdu.ts";
import type { Overdue } from "./overdue.ts";
import type { Requests } from "./requests.ts";
import type { BindRole, Session, SessionEvents, SessionOptions } from "./session.ts";
import type { Unacknowledged } from "./unacknowledged.ts";

/** What the parts of a session share. */
export interface SessionState {
  readonly options: SessionOptions;
  readonly events: SessionEvents;
  readonly clock: Clock;
  readonly connection: Connection;
  readonly requests: Requests;
  readonly session: Session;
  readonly overdue: Overdue;
  readonly unacknowledged: Unacknowledged;
  phase: "opening" | "bound" | "ended";
  isCredentialFault: boolean;
  /** Both as in `SessionEnd`. */
  readUntilMs?: number;
  wasLeft?: true;
  lastHeardAt: number;
  cancelWatch: () => void;
}

/** How long each step of an unbind may take: waiting for outstanding answers, and for the answer to unbind. */
export const UNBIND_LIMIT = { limitMs: 2000, late: () => {} };

/** The command that binds in each role. */
export const BIND_COMMANDS: Readonly<Record<BindRole, number>> = {
  transceiver: COMMAND.bindTransceiver,
  transmitter: COMMAND.bindTransmitter,
  receiver: COMMAND.bindReceiver,
};
