import type { Logger } from "pino";
import type { MakeDkimKeys } from "../api/admin/domains/dkim-pair.ts";
import type { Clock } from "../core/clock.ts";
import type { Dns } from "../core/domains/dns.ts";
import type { Log } from "../core/log.ts";
import type { Disk } from "../delivery/alarm-conditions.ts";
import type { Store } from "../store/store.ts";
import type { Config } from "./config.ts";
import type { MailKeys } from "./email/mail-keys.ts";
import type { LargeBodyThread } from "./large-bodies/create-large-body-thread.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { Lookups } from "./network/create-lookups.ts";
import type { FixedAddress } from "./network/web.ts";

/** The parts that most other parts of the service need. */
export interface Parts {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  /** The log of the background loops; see `createSteadyLog`. */
  readonly steadyLog: Log;
  readonly store: Store;
  readonly metrics: Metrics;
  readonly ids: () => string;
  readonly lookups: Lookups;
  readonly dns: Dns;
  readonly mailKeys: MailKeys;
  /** See `consoleKeyOf`. */
  readonly consoleKey: Uint8Array;
  readonly makeDkimKeys: MakeDkimKeys;
  readonly largeBodies: LargeBodyThread;
  readonly webAddress?: FixedAddress;
  /** The disk of the data folder, where the database is; absent on PostgreSQL. */
  readonly disk?: () => Promise<Disk>;
}
