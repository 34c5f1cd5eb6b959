import type { Clock, Random } from "../../../core/clock.ts";
import type { MessageError } from "../../../core/messages/message.ts";
import { present } from "../../../core/present.ts";
import type { ChannelStatus } from "../../channel.ts";

/** Whether the host can be reached, and when to look again. */
export interface HostHealth {
  readonly status: () => ChannelStatus;
  readonly isUp: () => boolean;
  readonly start: () => void;
  readonly markUp: () => void;
  /** Probes again after a pause that doubles from 1 s to 60 s, or from 1 to 10 minutes if the password was refused. */
  readonly markDown: (fault: MessageError) => void;
  readonly stop: () => void;
}

export function createHostHealth(deps: {
  readonly clock: Clock;
  readonly random: Random;
  /** Tries the host; calls `markUp` or `markDown` in the end. */
  readonly probe: () => void;
  readonly onStatus: (status: ChannelStatus) => void;
  /** The fault for the operator, with what to do about it. */
  readonly reasonOf: (fault: MessageError) => string;
}): HostHealth {
  let status: ChannelStatus = { state: "stopped", since: deps.clock.now() };
  let failures = 0;
  let cancelProbe = () => {};

  const enter = (state: ChannelStatus["state"], why: Pick<ChannelStatus, "reason" | "alarm"> = {}) => {
    const isChange = state !== status.state;
    const since = isChange ? deps.clock.now() : status.since;
    status = { state, since, ...why };
    if (isChange) deps.onStatus(status);
  };
  const probe = () => {
    const { reason, alarm } = status;
    // Until the host has answered, it still refuses the password.
    enter("connecting", present({ reason, alarm }));
    deps.probe();
  };

  return {
    status: () => status,
    isUp: () => status.state === "up",
    start: () => void (status.state === "stopped" && probe()),
    markUp() {
      failures = 0;
      cancelProbe();
      enter("up");
    },
    markDown(fault) {
      if (status.state === "stopped") return;
      const alarm = isOfPassword(fault) ? ("credentials_refused" as const) : undefined;
      enter("down", present({ reason: deps.reasonOf(fault), alarm }));
      cancelProbe = deps.clock.after(pauseMs(fault, failures++, deps.random), probe);
    },
    stop() {
      cancelProbe();
      enter("stopped");
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
