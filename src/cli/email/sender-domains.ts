import { createPrivateKey } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import { type Domain, ed25519Selector, senderDomain, signingPair } from "../../core/domains/domain.ts";
import { returnPathOf } from "../../core/domains/domain-records.ts";
import { readSetting } from "../../core/records/settings.ts";
import { createFreshCache } from "../../core/work/fresh-cache.ts";
import type { FindSenderDomain } from "../../delivery/sending/to-outgoing.ts";
import type { Records } from "../../store/store.ts";

/** How long a domain is cached: opening its sealed key takes longer than sending a message. */
const FRESH_MS = 2_000;
const MAX_KEPT = 1_000;

/** Finds the DKIM keys and return path host of an account's domain, and whether it is verified; cached for two seconds. */
export function createSenderDomains(
  records: Pick<Records, "list" | "settings">,
  clock: Clock,
): FindSenderDomain {
  const cache = createFreshCache<Found>({
    clock,
    maxEntries: MAX_KEPT,
    maxAgeMs: FRESH_MS,
    // Others are read each time: a message that is accepted as soon as the domain is verified must not fail.
    keeps: ({ isVerified }) => isVerified,
  });
  return async (accountId, domain) =>
    cache.get(`${accountId} ${domain}`, () => read(records, accountId, domain));
}

type Found = Awaited<ReturnType<FindSenderDomain>>;

async function read(
  records: Pick<Records, "list" | "settings">,
  accountId: string,
  name: string,
): Promise<Found> {
  const domain = senderDomain(await records.list("domains", { accountId, domain: name }, { limit: 10 }));
  if (!domain) return { isVerified: false };
  const host = readSetting(await records.settings(undefined), "return_path_host");
  const returnPathHost = host === undefined ? undefined : returnPathOf(domain, host);
  const isVerified = domain.verifiedAt !== undefined;
  return { isVerified, ...keysOf(domain), ...(returnPathHost !== undefined && { returnPathHost }) };
}

function keysOf(domain: Domain): Pick<Found, "dkim"> {
  const pair = signingPair(domain);
  if (!pair) return {};
  const key = (selector: string, pem: string) => ({
    domain: domain.domain,
    selector,
    privateKey: createPrivateKey(pem),
  });
  return {
    dkim: [key(pair.selector, pair.rsaPrivateKey), key(ed25519Selector(pair), pair.ed25519PrivateKey)],
  };
}
