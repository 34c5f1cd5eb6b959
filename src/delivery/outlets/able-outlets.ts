/** Tells connectors that can never send a message from those that can: one that speaks SMPP 3.3, for example, carries no DLT ids. */
import type { OutgoingMessage } from "../../channels/channel.ts";
import type { SendOutcome } from "../../core/messages/outcome.ts";
import type { Assignment } from "./failover.ts";
import type { Outlet } from "./outlet.ts";

export function canEverSend({ channel }: Outlet, message: OutgoingMessage): boolean {
  if (message.channel !== "sms" || !channel.partsOf) return true;
  return channel.partsOf(message) !== undefined;
}

/** Whether the message was refused because the connector can never send it, so that its provider was not asked. */
export function isRefusedHere(
  outlet: Outlet,
  { parts }: Pick<SendOutcome, "parts">,
  message: OutgoingMessage,
): boolean {
  return parts.some((part) => part?.kind === "rejected") && !canEverSend(outlet, message);
}

/**
 * The other outlets of the route that can send a message which the assigned one has refused because it never can; none if the
 * provider has refused it.
 */
export function ableInstead(
  { outlet, outlets }: Assignment,
  { parts }: SendOutcome,
  message: OutgoingMessage,
): readonly Outlet[] {
  if (!isRefusedHere(outlet, { parts }, message)) return [];
  return outlets.filter((other) => other !== outlet && canEverSend(other, message));
}

/** The outcome of an attempt that may go on elsewhere: nobody was asked. */
export function leftToOthers({ parts }: SendOutcome): SendOutcome {
  return {
    parts: parts.map((part) =>
      part?.kind === "rejected" ? ({ kind: "deferred", error: part.error } as const) : part,
    ),
    countsAsAttempt: false,
  };
}
