import type { Clock, Random } from "../../../core/clock.ts";
import type { MessageError } from "../../../core/messages/message.ts";
import { present } from "../../../core/present.ts";
import type { ChannelStatus } from "../../channel.ts";

/** Whether the host can be reached: it is tried at the start, and again after each fault. */
export interface HostHealth {
  readonly status: () => ChannelStatus;
  readonly isUp: () => boolean;
  /** To be called once, before `stop`. */
  readonly start: () => void;
  /**
   * To be called when the host fails a message. The messages that are under way then fail one after the other, and count as one
   * failure, with one pause. While the host is being tried, only that try counts: a second one would double the logins.
   */
  readonly markDown: (fault: MessageError) => void;
  /** Calls off the try under way, and resolves when it has ended. Nothing changes the status any more. */
  readonly stop: () => Promise<void>;
}

export interface HostHealthDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** Tries the host until `signal` aborts, and resolves with its fault, or with `undefined` if it can be reached. */
  readonly probe: (signal: AbortSignal) => Promise<MessageError | undefined>;
  /** Called when a try has found the host up. */
  readonly onUp: () => void;
  readonly onStatus: (status: ChannelStatus) => void;
  /** The fault for the operator, with what to do about it. */
  readonly reasonOf: (fault: MessageError) => string;
}

export function createHostHealth(deps: HostHealthDeps): HostHealth {
  const { clock, random, probe, onUp, onStatus, reasonOf } = deps;
  const stopping = new AbortController();
  let status: ChannelStatus = { state: "stopped", since: clock.now() };
  let failures = 0;
  let trying: Promise<void> | undefined;
  let cancelTry = () => {};

  const enter = (state: ChannelStatus["state"], why: Pick<ChannelStatus, "reason" | "alarm"> = {}) => {
    const isChange = state !== status.state;
    const since = isChange ? clock.now() : status.since;
    status = { state, since, ...why };
    if (isChange) onStatus(status);
  };
  const down = (fault: MessageError) => {
    const alarm = isOfPassword(fault) ? ("credentials_refused" as const) : undefined;
    enter("down", present({ reason: reasonOf(fault), alarm }));
    cancelTry = clock.after(pauseMs(fault, failures++, random), begin);
  };
  const begin = () => {
    trying = tryHost();
  };
  const tryHost = async () => {
    const { reason, alarm } = status;
    // Until the host has answered, it still refuses the password.
    enter("connecting", present({ reason, alarm }));
    const fault = await probe(stopping.signal);
    if (stopping.signal.aborted) return;
    if (fault) return down(fault);
    failures = 0;
    enter("up");
    onUp();
  };

  return {
    status: () => status,
    isUp: () => status.state === "up",
    start: begin,
    markDown: (fault) => void (status.state === "up" && down(fault)),
    async stop() {
      stopping.abort();
      cancelTry();
      enter("stopped");
      await trying;
    },
  };
}

/** Milliseconds. Long ones for passwords, since servers lock an account after repeated wrong ones. */
const PAUSES = { password: { first: 60_000, longest: 600_000 }, other: { first: 1_000, longest: 60_000 } };

function isOfPassword({ code }: MessageError): boolean {
  return code === "smtp.auth";
}

/** Half of the pause is random, so that many connectors do not come back at once. */
function pauseMs(fault: MessageError, failures: number, random: Random): number {
  const { first, longest } = isOfPassword(fault) ? PAUSES.password : PAUSES.other;
  const pause = Math.min(longest, first * 2 ** failures);
  return pause * (0.5 + random() / 2);
}
