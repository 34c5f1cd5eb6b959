import type { Connector } from "../../../core/records/accounts.ts";
import { bindRoles, readSmppConfig, type SmppConfig, sessionOptions } from "./smpp-config.ts";
import type { AnswerReading } from "./submit/submit-result.ts";

/** A connector's settings as they are now. Its sessions are opened with some of them; the others may change under way. */
export interface Settings {
  config(): SmppConfig;
  /** How answers are read. */
  reading(): AnswerReading;
  /** See `Channel.applySettings`. */
  apply(changed: Connector): boolean;
}

/** Throws if the connector's configuration is not that of `smppConfigSchema`. */
export function createSettings(connector: Connector): Settings {
  const first = readSmppConfig(connector);
  if (first instanceof Error) throw first;
  const opened = openedWith(first, connector);
  let config = first;
  let reading = readingOf(first);
  return {
    config: () => config,
    reading: () => reading,
    apply(changed) {
      const next = readSmppConfig(changed);
      if (next instanceof Error || openedWith(next, changed) !== opened) return false;
      config = next;
      reading = readingOf(next);
      return true;
    },
  };
}

/**
 * What cannot change while sessions are open, as a text to compare: what they are opened with, and the rate of senders, which the
 * messages in their lines have been told.
 */
function openedWith(config: SmppConfig, { secrets }: Connector): string {
  return JSON.stringify([
    bindRoles(config),
    sessionOptions(config, secrets),
    config.max_per_second_per_sender,
  ]);
}

function readingOf(config: SmppConfig): AnswerReading {
  return {
    statusClasses: new Map(Object.entries(config.status_classes).map(([k, v]) => [Number(k), v])),
    dltCodes: config.dlt_codes,
    idFormat: config.id_format,
    hasReceipts: hasReceipts(config),
  };
}

/** registered_delivery (SMPP 3.4 §5.2.17): 1 in the lowest two bits asks for success and failure. */
function hasReceipts({ registered_delivery }: SmppConfig): boolean {
  return (registered_delivery & 0b11) === 1;
}
