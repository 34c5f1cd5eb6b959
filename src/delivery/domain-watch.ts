import { type Domain, type DomainState, stateOf } from "../core/domains/domain.ts";
import { checkRecords, type DomainDns } from "../core/domains/domain-check.ts";
import { recordsOf } from "../core/domains/domain-records.ts";
import { isCheckDue, judgeDomain } from "../core/domains/domain-verdict.ts";
import type { Log } from "../core/log.ts";
import { readSetting } from "../core/records/settings.ts";
import { DAY_MS } from "../core/time/durations.ts";
import type { Chore } from "../core/work/chores.ts";
import type { Records } from "../store/store.ts";

/** Checks daily whether the DNS records of every sender's domain are still there. */
export interface DomainWatch {
  readonly chore: Chore;
  /** How many domains are in each state, as of the last complete round. */
  counts(): Readonly<Record<DomainState, number>>;
}

export interface DomainWatchDeps {
  readonly records: Pick<Records, "list" | "find" | "update" | "settings">;
  readonly dns: DomainDns;
  readonly log: Log;
}

const EVERY_MS = 60_000;
const PAGE = 100;

/** Each run checks one page of domains, and the next run goes on from there. The last page completes a round. */
export function createDomainWatch(deps: DomainWatchDeps): DomainWatch {
  let counts = noDomains();
  let counting = noDomains();
  let after: string | undefined;

  const run = async (now: number) => {
    const page = await deps.records.list("domains", {}, { ...(after && { after }), limit: PAGE });
    const due = page.filter((domain) => isCheckDue(domain, now));
    const checked = new Map<string, Domain>();
    await Promise.all(
      due.map(async (domain) => {
        const updated = await look(deps, domain, now);
        if (updated) checked.set(domain.id, updated);
      }),
    );
    for (const domain of page) counting[stateOf(checked.get(domain.id) ?? domain)]++;
    after = page.length < PAGE ? undefined : page.at(-1)?.id;
    if (after !== undefined) return page.length;
    [counts, counting] = [counting, noDomains()];
    return 0;
  };
  return { chore: { name: "check domains", everyMs: EVERY_MS, run }, counts: () => counts };
}

function noDomains(): Record<DomainState, number> {
  return { pending: 0, verified: 0, failing: 0, lapsed: 0 };
}

async function look(deps: DomainWatchDeps, domain: Domain, now: number): Promise<Domain | undefined> {
  const stored = await deps.records.settings(undefined);
  const records = recordsOf(domain, readSetting(stored, "return_path_host"));
  const verdicts = await checkRecords(deps.dns, records);
  // Read again: a change made while DNS was asked must not be lost.
  const current = await deps.records.find("domains", { id: domain.id });
  if (!current) return undefined;
  const graceMs = readSetting(stored, "domain_grace_days") * DAY_MS;
  const changes = judgeDomain(current, { now, records, verdicts, graceMs });
  const updated = await deps.records.update("domains", current, changes);
  // If an operator, or the check of another process, was faster even so: what is still due is checked in the next round.
  if (!updated || "conflict" in updated || "overtakenBy" in updated) return undefined;
  logChange(deps.log, { before: current, after: updated, stopsAt: (updated.failingSince ?? now) + graceMs });
  return updated;
}

interface Change {
  readonly before: Domain;
  readonly after: Domain;
  readonly stopsAt: number;
}

/** A failing domain is logged at every check, the other states when they begin. */
function logChange(log: Log, { before, after, stopsAt }: Change): void {
  const state = stateOf(after);
  const missing = after.lastCheck?.records.filter(({ result }) => result === "missing" || result === "wrong");
  const fields = {
    domain: after.domain,
    account_id: after.accountId,
    missing: missing?.map(({ name }) => name) ?? [],
  };
  if (state === "failing")
    log.warn(
      { ...fields, stops_at: new Date(stopsAt).toISOString() },
      "a domain's DNS records are missing: soon nothing will be sent from it",
    );
  if (state === stateOf(before)) return;
  if (state === "lapsed")
    log.error(fields, "a domain's DNS records are gone: nothing is sent from it any more");
  if (state === "verified") log.info(fields, "a domain is verified");
}
