/** The background loops of the service: how they are made, and started. */

import { present } from "../core/present.ts";
import { NOBODY_ELSE } from "../core/queue/claimant.ts";
import { boundChores } from "../delivery/bound-chores.ts";
import { createDomainWatch } from "../delivery/domain-watch.ts";
import { overdueChore } from "../delivery/receipts/overdue-receipts.ts";
import { createUpkeep, stageChore, storeChores } from "../delivery/upkeep.ts";
import { createAlarms } from "./alarms.ts";
import { createClockWatch } from "./clock-watch.ts";
import type { Config } from "./config.ts";
import { createDelivery } from "./delivery.ts";
import { createCertificateWatch } from "./http/certificate-watch.ts";
import type { Renew } from "./http/served-tls.ts";
import { openShares } from "./open-shares.ts";
import type { Parts } from "./parts.ts";
import type { Running } from "./running.ts";
import { createWebhooks } from "./webhooks.ts";

/** The background loops, not started yet. */
export function makeLoops(parts: Parts) {
  const { clock, store, dns, steadyLog: log } = parts;
  const { roles } = parts.config;
  const shares = openShares(parts);
  const claimant = shares?.claimant ?? (() => NOBODY_ELSE);
  const engine = createDelivery(parts, { shares, claimant });
  const domains = createDomainWatch({ records: store.records, dns, log });
  const bounds = boundChores({ ...store, clock, log, observe: parts.metrics.observe });
  const sweeper = () => present({ process: claimant().process, inFlight: engine.inFlight() });
  const sweep = stageChore(store.queue, sweeper);
  const chores = [sweep, ...storeChores(store), domains.chore, overdueChore(store), ...bounds];
  return {
    shares,
    engine,
    domains,
    upkeep: createUpkeep({ clock, log, chores: roles.has("upkeep") ? chores : [sweep] }),
    webhooks: createWebhooks(parts, claimant),
    alarms: createAlarms(parts, engine),
    clocks: createClockWatch({ store, clock, log }),
    certificate: createCertificateWatch({ config: parts.config, clock, log }),
  };
}

export type Loops = ReturnType<typeof makeLoops>;

/** Starts the loops. They are added to `running` before that, so that they are stopped if one cannot start. */
export async function startLoops(
  roles: Config["roles"],
  loops: Loops & { readonly renew: Renew },
  running: Running,
): Promise<void> {
  const { shares, engine, upkeep, webhooks, alarms, clocks, certificate } = loops;
  running.add("messages that are being sent", engine);
  running.add("upkeep", upkeep);
  running.add("webhooks that are being delivered", webhooks);
  running.add("alarms", alarms);
  running.add("a look at the clock", clocks);
  running.add("a look at the certificate", certificate);
  clocks.start();
  certificate.start(loops.renew);
  await shares?.start();
  if (roles.has("delivery")) await engine.start().then(alarms.start);
  if (roles.has("upkeep") || roles.has("delivery")) upkeep.start();
  if (roles.has("webhooks")) webhooks.start();
}
