import type { Clock } from "../../../core/clock.ts";
import type { MessageError } from "../../../core/messages/message.ts";
import type { Fault } from "../smtp/hand-over.ts";
import { hasTooManyRecipients, type TransactionEnd, type TransactionReport } from "../smtp/smtp-replies.ts";
import { asksToWait } from "./asks-to-wait.ts";
import { type HostAddress, placeOf } from "./host-address.ts";
import { createRests, type Rests, type Visit } from "./rests.ts";

/** Whether a mail host may be asked now, by what it has said and done to the messages before. */
export interface HostVisits {
  /** To be called before a mail goes there, over whichever connection. `fault`: the host takes no mail from us for now. */
  readonly begin: (host: HostAddress) => HostVisit | { readonly fault: Fault };
  /** Whether the address could not be connected to lately, or was silent, so that others should be tried first. */
  readonly hasFailed: (host: HostAddress) => boolean;
  /** Why the host takes no mail from us for now, if so. */
  readonly restOf: (host: HostAddress) => HostRest | undefined;
}

/** It asked us to wait in answer to a mail, or it even refused the connection. */
export type HostRest = "wait" | "shut";

export interface HostVisit {
  /** To be called before connecting. Returns why there is no use in it for now, if so: what the last message met there. */
  readonly connecting: () => MessageError | undefined;
  readonly connected: () => void;
  /** `reply`: what the host said, if anything. */
  readonly failed: (fault: MessageError, reply: string) => void;
  /** Has to be called once, whatever came of the visit. `report`: what the host said to the mail, if it was offered one. */
  readonly end: (report?: TransactionReport) => void;
}

/** What a host says of us holds for every message: each that is offered all the same counts against our address. */
const REFUSED = { firstMs: 15_000, longestMs: 120_000 };

/**
 * An address that drops what is sent to it keeps each message, and its slot, waiting for half a minute, and one that greets and then
 * says nothing for three: with a few such domains in a queue nothing else would be sent. Less than the shortest wait before a second
 * attempt (a minute, less a tenth), so that it tries again.
 */
const UNREACHED = { firstMs: 50_000, longestMs: 50_000 };

const RESTING: MessageError = {
  code: "mx.resting",
  message: "the mail host takes no mail from this server for now, and is asked again soon",
};

interface Memory {
  /** By the host's name. */
  readonly refused: Rests<HostRest>;
  /** By `placeOf`. */
  readonly unreached: Rests<MessageError>;
  /** By the same: it was connected to, so only an answer to a mail tells that it is back. */
  readonly silent: Rests<MessageError>;
}

export function createHostVisits(clock: Pick<Clock, "monotonicMs">): HostVisits {
  const memory: Memory = {
    refused: createRests(clock, REFUSED),
    unreached: createRests(clock, UNREACHED),
    silent: createRests(clock, UNREACHED),
  };
  return {
    begin(host) {
      const visit = memory.refused.begin(host.name);
      if ("why" in visit) return { fault: { ...RESTING, retryAfterMs: visit.retryAfterMs } };
      return openVisit(memory, host, visit);
    },
    hasFailed: (host) =>
      [memory.unreached, memory.silent].some((each) => each.whyOf(placeOf(host)) !== undefined),
    restOf: ({ name }) => memory.refused.whyOf(name),
  };
}

function openVisit({ refused, unreached, silent }: Memory, host: HostAddress, visit: Visit): HostVisit {
  const place = placeOf(host);
  const begun = [visit];
  const heed = (report: TransactionReport) => {
    const { end } = report;
    if (isSilence(end)) return silent.rest(place, SILENT);
    if (end.kind === "lost" || end.kind === "called_off") return;
    // Over whichever connection: whether another one could be opened is not known by this.
    silent.forget(place);
    if (hasTooManyRecipients(report)) refused.rest(host.name, "wait");
    else if (end.kind === "taken") refused.forget(host.name);
    else if ("reply" in end && asksToWait(end.reply)) refused.rest(host.name, "wait");
    // What else is said to RCPT TO is about the recipient, whom many hosts greylist.
    else refused.answered(host.name);
  };
  return {
    connecting() {
      for (const rests of [unreached, silent]) {
        const each = rests.begin(place);
        if ("why" in each) return each.why;
        begun.push(each);
      }
      return undefined;
    },
    // Also if another message has failed meanwhile: it may have waited for half a minute, and this is newer.
    connected: () => unreached.lift(place),
    failed(fault, reply) {
      if (asksToWait(reply)) refused.rest(host.name, "shut");
      else unreached.rest(place, fault);
    },
    end(report) {
      if (report) heed(report);
      for (const each of begun) each.end();
    },
  };
}

/** What is not answered after MAIL may be about a recipient, whom the host looks up elsewhere, or about the message. */
function isSilence(end: TransactionEnd): boolean {
  return end.kind === "lost" && end.wasSilent === true && end.wasUnanswered;
}

const SILENT: MessageError = { code: "smtp.timeout", message: "the server did not answer in time" };
