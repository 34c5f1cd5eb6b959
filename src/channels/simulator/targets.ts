import type { OutgoingMessage } from "../channel.ts";
import { isToBeSent } from "../is-to-be-sent.ts";
import { type Scenario, scenarioOf } from "./scenario.ts";

/** One part that this attempt covers. */
export interface Target {
  /** The part's index in the message. */
  readonly index: number;
  /** Number or address. */
  readonly to: string;
  readonly scenario: Scenario;
}

/** The parts that this attempt covers: an email's recipients, or a whole SMS, which the simulator takes as one part. */
export function targetsOf(message: OutgoingMessage): readonly Target[] {
  const addresses = addressesOf(message);
  return addresses.flatMap((to, index) =>
    isToBeSent(message, index) ? [{ index, to, scenario: scenarioOf(message.channel, to) }] : [],
  );
}

function addressesOf(message: OutgoingMessage): readonly string[] {
  if (message.channel === "sms")
    return message.parts.length > 0 ? message.parts.map(() => message.to) : [message.to];
  return message.parts.map(({ address = "" }) => address);
}
