import type { Clock } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import { DAY_MS, SECOND_MS } from "../../core/time/durations.ts";
import { toIso } from "../../core/time/timestamp.ts";
import { createChores } from "../../core/work/chores.ts";
import type { Config } from "../config.ts";
import { createServedTls, type Renew } from "./served-tls.ts";
import type { Validity } from "./tls-files.ts";

/** How long before its end a certificate is warned of at the earliest. Tools that renew certificates do so earlier, */
const SOON_MS = 14 * DAY_MS;

/** and those that last for days only, when this part of their time is left: for these, two weeks would be all the time. */
const LAST_PART = 1 / 3;

/** A new certificate is served after two looks. */
const LOOK_MS = 5 * SECOND_MS;

/**
 * Has HTTPS and the bounce listener show what `TLS_CERT` and `TLS_KEY` hold by now, and warns of a certificate that clients soon
 * accept no longer, or of new ones that they would not accept.
 */
export interface CertificateWatch {
  start(renew: Renew): void;
  /** That of the certificate that is served; `undefined` if there is none. */
  validity(): Validity | undefined;
  /** What is wrong now, in words for the operator. */
  warnings(): readonly string[];
  stop(): Promise<void>;
}

export function createCertificateWatch({
  config,
  clock,
  log,
}: {
  readonly config: Pick<Config, "tls" | "tlsFiles">;
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn">;
}): CertificateWatch {
  const served = createServedTls(config, clock);
  let renew: Renew = async () => {};

  const warnings = () => {
    const [end, refusal] = [endOf(served.validity(), clock.now()), served.refusal()];
    return [
      ...(end === undefined ? [] : [`${end}: ${config.tlsFiles ? TAKEN_SOON : TAKEN_AT_A_RESTART}`]),
      ...(refusal === undefined ? [] : [`${STILL_SERVED}: ${refusal}`]),
    ];
  };
  const warn = async () => {
    for (const warning of warnings()) log.warn({}, warning);
    return 0;
  };
  const look = async () => {
    const before = served.refusal();
    const isNew = await served.look(renew);
    if (isNew) log.info({ ends_at: toIso(served.validity()?.endsAt ?? 0) }, "a new certificate is served");
    const isNews = isNew || (served.refusal() !== undefined && served.refusal() !== before);
    return isNews ? warn() : 0;
  };
  const { start, stop } = createChores({
    clock,
    chores: [
      { name: "look for a new certificate", everyMs: LOOK_MS, run: look },
      { name: "warn of the certificate", everyMs: DAY_MS, run: warn },
    ],
    onError: (error) => log.warn({ err: error }, "the certificate could not be looked at"),
  });
  return {
    start(how) {
      renew = how;
      if (served.validity()) start();
    },
    validity: served.validity,
    warnings,
    stop,
  };
}

const TAKEN_SOON = "a new one in TLS_CERT is served within 15 s";
const TAKEN_AT_A_RESTART = "a new one in TLS_CERT is served after a restart";
const STILL_SERVED = "the certificate from before is still served";

/** In words, if it is near. */
function endOf(validity: Validity | undefined, now: number): string | undefined {
  if (!validity) return undefined;
  const { beginsAt, endsAt } = validity;
  if (now > endsAt) return `the certificate that is served ended at ${toIso(endsAt)}`;
  if (now < beginsAt) return `the certificate that is served is valid only from ${toIso(beginsAt)} on`;
  if (endsAt - now < Math.min(SOON_MS, (endsAt - beginsAt) * LAST_PART))
    return `the certificate that is served ends at ${toIso(endsAt)}`;
  return undefined;
}
