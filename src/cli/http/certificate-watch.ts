import { X509Certificate } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type { Clock } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import { DAY_MS } from "../../core/time/durations.ts";
import { createChores } from "../../core/work/chores.ts";
import type { Config } from "../config.ts";

/** How long before its end a certificate is warned of at the earliest. Tools that renew certificates do so earlier, */
const SOON_MS = 14 * DAY_MS;

/** and those that last for days only, when this part of their time is left: for these, two weeks would be all the time. */
const LAST_PART = 1 / 3;

/**
 * Looks daily whether clients still accept the certificate that HTTPS and the bounce listener show. It stays the one from the
 * start: Bun's server takes no other while it runs.
 */
export interface CertificateWatch {
  start(): void;
  /** That of the certificate that is served; `undefined` if there is none. */
  validity(): Validity | undefined;
  /** What is wrong with it now, in words for the operator. */
  warnings(): readonly string[];
  stop(): Promise<void>;
}

export function createCertificateWatch({
  config: { tls, certificateFile },
  clock,
  log,
}: {
  readonly config: Pick<Config, "tls" | "certificateFile">;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
}): CertificateWatch {
  const served = tls && validityOf(tls.cert);
  let renewedUntil: number | undefined;

  const warnings = () => {
    const problem = served && problemOf(served, clock.now());
    return problem === undefined ? [] : [`${problem}: ${whatToDo(renewedUntil)}`];
  };
  const look = async () => {
    const filed = certificateFile === undefined ? undefined : await validityIn(certificateFile);
    renewedUntil = served && filed && filed.endsAt > served.endsAt ? filed.endsAt : undefined;
    for (const warning of warnings()) log.warn({}, warning);
    return 0;
  };
  const { start, stop } = createChores({
    clock,
    chores: served ? [{ name: "look at the certificate", everyMs: DAY_MS, run: look }] : [],
    onError: (error) => log.warn({ err: error }, "the certificate could not be looked at"),
  });
  return { start, validity: () => served, warnings, stop };
}

/** From when on a certificate is valid, and until when; Unix milliseconds. */
export interface Validity {
  readonly beginsAt: number;
  readonly endsAt: number;
}

/** That of the first certificate, which is the server's own; `undefined` if there is none to be read. */
function validityOf(pem: string): Validity | undefined {
  try {
    const { validFrom, validTo } = new X509Certificate(pem);
    return { beginsAt: Date.parse(validFrom), endsAt: Date.parse(validTo) };
  } catch {
    return undefined;
  }
}

/** `undefined` also if the file is gone, or is being written. */
async function validityIn(path: string): Promise<Validity | undefined> {
  // A pipe is empty after the start: nobody may ever write to it again, and a stop would wait for that.
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  const octets = await readFile(path).catch(() => undefined);
  // Decodes without a byte order mark, which `readFile` would keep.
  return octets && validityOf(new TextDecoder().decode(octets));
}

function problemOf({ beginsAt, endsAt }: Validity, now: number): string | undefined {
  if (now > endsAt) return `the certificate that is served ended at ${timeOf(endsAt)}`;
  if (now < beginsAt) return `the certificate that is served is valid only from ${timeOf(beginsAt)} on`;
  if (endsAt - now < Math.min(SOON_MS, (endsAt - beginsAt) * LAST_PART))
    return `the certificate that is served ends at ${timeOf(endsAt)}`;
  return undefined;
}

function whatToDo(renewedUntil: number | undefined): string {
  return renewedUntil === undefined
    ? "a new one in TLS_CERT is taken at a restart"
    : `TLS_CERT has one by now that ends at ${timeOf(renewedUntil)}: restart to serve it`;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
