import type { DomainDns } from "../../../core/domains/domain-check.ts";
import { limitedLookup } from "../../../core/domains/limited-lookup.ts";
import type { AdminDeps } from "../admin-deps.ts";

const LOOKUP_LIMIT_MS = 10_000;

/** DNS lookups that fail after 10 s, with the code that Node gives when a DNS server does not answer. */
export function withTimeLimit({ clock, resolveTxt, resolveMx, resolveCname }: AdminDeps): DomainDns {
  return {
    resolveTxt: (name) => limitedLookup(clock, LOOKUP_LIMIT_MS, resolveTxt(name)),
    resolveMx: (name) => limitedLookup(clock, LOOKUP_LIMIT_MS, resolveMx(name)),
    resolveCname: (name) => limitedLookup(clock, LOOKUP_LIMIT_MS, resolveCname(name)),
  };
}
