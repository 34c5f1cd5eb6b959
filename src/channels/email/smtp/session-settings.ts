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

/** The fields of a connector's configuration that they come from. */
interface Given {
  readonly port: number;
  readonly local_address?: string;
  readonly ca?: string;
  readonly ehlo_name?: string;
  readonly max_messages_per_connection: number;
  readonly connect_timeout_ms: number;
  readonly greeting_timeout_ms: number;
  readonly response_timeout_ms: number;
  readonly send_timeout_ms: number;
  readonly idle_timeout_ms: number;
}

export function toSessionSettings(given: Given): SessionSettings {
  return {
    port: given.port,
    ...(given.local_address !== undefined && { localAddress: given.local_address }),
    ...(given.ca !== undefined && { ca: given.ca }),
    ...(given.ehlo_name !== undefined && { ehloName: given.ehlo_name }),
    maxMessagesPerConnection: given.max_messages_per_connection,
    connectTimeoutMs: given.connect_timeout_ms,
    greetingTimeoutMs: given.greeting_timeout_ms,
    responseTimeoutMs: given.response_timeout_ms,
    sendTimeoutMs: given.send_timeout_ms,
    idleTimeoutMs: given.idle_timeout_ms,
  };
}
