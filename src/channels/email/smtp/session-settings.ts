import Type from "typebox";
import { present } from "../../../core/present.ts";

/** Settings of SMTP sessions that do not depend on the host; times in milliseconds. */
export interface SessionSettings {
  readonly port: number;
  /** The address of this machine to connect from; absent: as the system chooses. */
  readonly localAddress?: string;
  readonly ca?: string;
  readonly ehloName?: string;
  readonly maxMessagesPerConnection: number;
  readonly connectTimeoutMs: number;
  readonly greetingTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly sendTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

/** An optional integer of a configuration. */
export function integer(
  byDefault: number,
  [minimum, maximum]: readonly [minimum: number, maximum: number],
  description: string,
) {
  return Type.Optional(Type.Integer({ default: byDefault, minimum, maximum, description }));
}

/** The limits of sessions, which every kind of connector has. `connecting` and `sending`: what the two time limits are for. */
export function sessionFields(
  defaults: SessionLimits,
  { connecting, sending }: { readonly connecting: string; readonly sending: string },
) {
  return {
    max_messages_per_connection: integer(
      defaults.max_messages_per_connection,
      [1, 100_000],
      "After this many, a new connection is opened.",
    ),
    connect_timeout_ms: integer(defaults.connect_timeout_ms, [100, 600_000], connecting),
    greeting_timeout_ms: integer(
      defaults.greeting_timeout_ms,
      [100, 600_000],
      "Limit for the server's greeting, and again for TLS after STARTTLS.",
    ),
    response_timeout_ms: integer(
      defaults.response_timeout_ms,
      [100, 1_800_000],
      "Longest wait for a reply; only the reply to the message may take as long as `send_timeout_ms` allows.",
    ),
    send_timeout_ms: integer(defaults.send_timeout_ms, [1_000, 3_600_000], sending),
    idle_timeout_ms: integer(
      defaults.idle_timeout_ms,
      [100, 3_600_000],
      "An idle connection is closed after this time.",
    ),
  };
}

interface SessionLimits {
  readonly max_messages_per_connection: number;
  readonly connect_timeout_ms: number;
  readonly greeting_timeout_ms: number;
  readonly response_timeout_ms: number;
  readonly send_timeout_ms: number;
  readonly idle_timeout_ms: number;
}

/** The fields of a configuration, its defaults filled in. */
interface Given extends SessionLimits {
  readonly port: number;
  readonly local_address?: string;
  readonly ca?: string;
  readonly ehlo_name?: string;
}

export function toSessionSettings(given: Given): SessionSettings {
  return {
    port: given.port,
    ...present({ localAddress: given.local_address, ca: given.ca, ehloName: given.ehlo_name }),
    maxMessagesPerConnection: given.max_messages_per_connection,
    connectTimeoutMs: given.connect_timeout_ms,
    greetingTimeoutMs: given.greeting_timeout_ms,
    responseTimeoutMs: given.response_timeout_ms,
    sendTimeoutMs: given.send_timeout_ms,
    idleTimeoutMs: given.idle_timeout_ms,
  };
}
