/** What a check of the DNS means for a domain. Pure. */
import { DAY_MS, HOUR_MS } from "../time/durations.ts";
import { type DkimPair, type Domain, signingPair } from "./domain.ts";
import { type DnsRecord, dkimRecords, type RecordVerdict } from "./domain-records.ts";

/** How long a replaced key stays in DNS: mail that it signed may still wait in queues, and is verified only when it arrives. */
const RETIRED_AFTER_MS = 7 * DAY_MS;

/** New records are checked every hour for this long, then once a day like all others. */
const PENDING_MS = 3 * DAY_MS;

/** Fields to store; `null` clears. */
export interface DomainChanges {
  readonly dkimKeys: readonly DkimPair[];
  readonly verifiedAt: number | null;
  readonly failingSince: number | null;
  readonly lapsedAt: number | null;
  readonly lastCheck: NonNullable<Domain["lastCheck"]>;
  readonly nextCheckAt: number;
}

/** One check of a domain's records. */
export interface Look {
  readonly now: number;
  /** In the order of the verdicts. */
  readonly records: readonly DnsRecord[];
  readonly verdicts: readonly RecordVerdict[];
  /** How long a verified domain stays verified without its records. */
  readonly graceMs: number;
}

/**
 * If all required records are there, the domain is verified. If one is missing or wrong, it is failing, and lapses after
 * the grace time. If one could not be looked up, nothing changes. New keys take over once both their records are seen.
 */
export function judgeDomain(domain: Domain, look: Look): DomainChanges {
  const { now, verdicts } = look;
  const dkimKeys = rotate(domain, look);
  const needed = neededVerdicts(look, signingPair({ dkimKeys }));
  const isUnknown = needed.some(({ result }) => result === "unknown");
  const isGood = needed.every(({ result }) => result === "ok");
  const standing = isGood ? verified(domain, now) : isUnknown ? unchanged(domain) : failing(domain, look);
  const isHasty = isUnknown || dkimKeys.at(-1)?.seenAt === undefined || standing.verifiedAt === null;
  const isYoung = isUnknown || now - lastChangeAt(domain) < PENDING_MS;
  return {
    dkimKeys,
    ...standing,
    lastCheck: { at: now, records: verdicts.map((verdict) => withKnown(domain, verdict)) },
    nextCheckAt: now + (isHasty && isYoung ? HOUR_MS : DAY_MS),
  };
}

/** Also a domain whose next check is further away than checks are apart is to be checked: the clock was ahead, and was set back since. */
export function isCheckDue({ nextCheckAt = 0 }: Pick<Domain, "nextCheckAt">, now: number): boolean {
  return nextCheckAt <= now || nextCheckAt > now + DAY_MS;
}

/** A record that could not be looked up keeps what the last check found; otherwise the return path would be given up. */
function withKnown({ lastCheck }: Domain, verdict: RecordVerdict): RecordVerdict {
  if (verdict.result !== "unknown" || verdict.found.length > 0) return verdict;
  const before = lastCheck?.records.find(({ type, name }) => type === verdict.type && name === verdict.name);
  return before ? { ...verdict, found: before.found } : verdict;
}

type Standing = Pick<DomainChanges, "verifiedAt" | "failingSince" | "lapsedAt">;

function verified({ verifiedAt }: Domain, now: number): Standing {
  return { verifiedAt: verifiedAt ?? now, failingSince: null, lapsedAt: null };
}

function unchanged({ verifiedAt, failingSince, lapsedAt }: Domain): Standing {
  return {
    verifiedAt: verifiedAt ?? null,
    failingSince: failingSince ?? null,
    lapsedAt: lapsedAt ?? null,
  };
}

function failing(domain: Domain, { now, graceMs }: Look): Standing {
  if (domain.verifiedAt === undefined) return unchanged(domain);
  const failingSince = domain.failingSince ?? now;
  return now - failingSince >= graceMs
    ? { verifiedAt: null, failingSince: null, lapsedAt: now }
    : { ...unchanged(domain), failingSince };
}

function rotate({ dkimKeys }: Domain, { now, records, verdicts }: Look): readonly DkimPair[] {
  const found = new Set(
    records.filter((_, index) => verdicts[index]?.result === "ok").map(({ value }) => value),
  );
  const seen = dkimKeys.map((pair) => {
    const isThere = dkimRecords(pair, "").every(({ value }) => found.has(value));
    return pair.seenAt === undefined && isThere ? { ...pair, seenAt: now } : pair;
  });
  const signing = signingPair({ dkimKeys: seen });
  return seen
    .map((pair, index) => {
      const isOld = signing !== undefined && index < seen.indexOf(signing);
      return isOld && pair.replacedAt === undefined ? { ...pair, replacedAt: now } : pair;
    })
    .filter(({ replacedAt }) => replacedAt === undefined || now - replacedAt < RETIRED_AFTER_MS);
}

/** The verdicts that decide: of required records, and of the keys that sign now, whatever their role was when looked up. */
function neededVerdicts(
  { records, verdicts }: Look,
  signing: DkimPair | undefined,
): readonly RecordVerdict[] {
  const keys = signing ? dkimRecords(signing, "").map(({ value }) => value) : [];
  return verdicts.filter((_, index) => {
    const record = records[index];
    return record?.purpose === "dkim" ? keys.includes(record.value) : record?.role === "required";
  });
}

function lastChangeAt({ createdAt, dkimKeys, lapsedAt }: Domain): number {
  return Math.max(createdAt, lapsedAt ?? 0, ...dkimKeys.map((pair) => pair.createdAt));
}
