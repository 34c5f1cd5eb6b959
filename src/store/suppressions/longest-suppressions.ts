import type { Suppression } from "../../core/records/accounts.ts";

/** One entry for each address of an account: the one that lasts longest, or the first of those that end together. */
export function longest(suppressions: readonly Suppression[]): readonly Suppression[] {
  const byAddress = new Map<string, Suppression>();
  for (const each of suppressions) {
    const name = `${each.accountId} ${each.email}`;
    const before = byAddress.get(name);
    if (!before || endOf(each) > endOf(before)) byAddress.set(name, each);
  }
  return [...byAddress.values()];
}

function endOf({ expiresAt = Number.POSITIVE_INFINITY }: Suppression): number {
  return expiresAt;
}
