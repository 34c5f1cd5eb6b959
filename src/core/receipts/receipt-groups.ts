import type { Connector } from "../records/accounts.ts";

/** For each connector, the others that may receive receipts about its messages. Connectors without such others are absent. */
export type ReceiptGroups = ReadonlyMap<string, readonly string[]>;

/**
 * Groups the connectors of one account at a provider, which may send a receipt over any of them: SMPP connectors with the same
 * host and system_id, and those that name one another in `receipts_with`.
 */
export function receiptGroups(connectors: readonly Connector[]): ReceiptGroups {
  const groups = new Map<string, Set<string>>();
  const join = (one: string, other: string) => {
    const joined = new Set([...(groups.get(one) ?? [one]), ...(groups.get(other) ?? [other])]);
    for (const id of joined) groups.set(id, joined);
  };
  const firstOfAccount = new Map<string, string>();
  for (const connector of connectors) {
    const { id, config } = connector;
    const { receipts_with: named } = config;
    for (const other of Array.isArray(named) ? named : []) join(id, String(other));
    const account = accountOf(connector);
    if (account === undefined) continue;
    const first = firstOfAccount.get(account) ?? id;
    firstOfAccount.set(account, first);
    join(id, first);
  }
  return new Map(
    [...groups]
      .filter(([, ids]) => ids.size > 1)
      .map(([id, ids]) => [id, [...ids].filter((each) => each !== id).sort()]),
  );
}

/**
 * For each connector of such a group the first one, whether it is enabled or not: parts of a message may wait while one is disabled.
 * Connectors without others, and those that are the first themselves, are absent.
 */
export function firstOfGroups(groups: ReceiptGroups): ReadonlyMap<string, string> {
  const firsts = new Map<string, string>();
  for (const [id, [other]] of groups) if (other !== undefined && other < id) firsts.set(id, other);
  return firsts;
}

function accountOf({ kind, config }: Connector): string | undefined {
  const { host, system_id: systemId } = config;
  const isNamed = kind === "smpp" && typeof host === "string" && typeof systemId === "string";
  return isNamed ? JSON.stringify([host.toLowerCase(), systemId]) : undefined;
}
