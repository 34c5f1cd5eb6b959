import { expect, test } from "bun:test";
import { type DkimPair, type Domain, signingPair, stateOf } from "./domain.ts";
import { type RecordVerdict, recordsOf, returnPathOf, zoneLine } from "./domain-records.ts";
import { judgeDomain } from "./domain-verdict.ts";

const DAY = 24 * 3_600_000;
const NOW = Date.UTC(2026, 5, 1);

function pair(selector: string, more: Partial<DkimPair> = {}): DkimPair {
  return {
    selector,
    rsaPublicKey: `${selector}RSA`,
    rsaPrivateKey: "",
    ed25519PublicKey: `${selector}ED`,
    ed25519PrivateKey: "",
    createdAt: NOW - 30 * DAY,
    ...more,
  };
}

function domain(more: Partial<Domain> = {}): Domain {
  return {
    id: "1",
    accountId: "2",
    domain: "bücher.example",
    ownershipToken: "token",
    dkimKeys: [pair("a", { seenAt: NOW - DAY })],
    verifiedAt: NOW - DAY,
    createdAt: NOW - 30 * DAY,
    ...more,
  };
}

/** `result` for every record whose name fits, `ok` for the others. */
function judge(of: Domain, result: RecordVerdict["result"], names = /./, now = NOW): Domain {
  const records = recordsOf(of, undefined);
  const verdicts = records.map(({ type, name }): RecordVerdict => {
    return { type, name, found: [], result: names.test(name) ? result : "ok" };
  });
  const changes = judgeDomain(of, { now, records, verdicts, graceMs: 2 * DAY });
  const kept = Object.entries({ ...of, ...changes }).filter(([, value]) => value !== null);
  return Object.fromEntries(kept) as unknown as Domain;
}

test("a verified domain is failing for the grace time, then lapsed, then verified again", () => {
  const failing = judge(domain(), "missing", /_postrider/);
  expect(stateOf(failing)).toBe("failing");
  expect(stateOf(judge(failing, "missing", /_postrider/, NOW + 2 * DAY - 1))).toBe("failing");
  const lapsed = judge(failing, "missing", /_postrider/, NOW + 2 * DAY);
  expect([stateOf(lapsed), lapsed.failingSince]).toEqual(["lapsed", undefined]);
  expect(stateOf(judge(lapsed, "missing", /_postrider/, NOW + 3 * DAY))).toBe("lapsed");
  const again = judge(lapsed, "ok", /./, NOW + 3 * DAY);
  expect([stateOf(again), again.lapsedAt]).toEqual(["verified", undefined]);
  expect(judge(failing, "ok").failingSince).toBeUndefined();
});

test("a domain is verified since its records were first found, not since they were last", () => {
  expect(judge(domain(), "ok").verifiedAt).toBe(NOW - DAY);
});

test("what could not be looked up proves nothing, and is looked at again within the hour", () => {
  const after = judge(domain(), "unknown", /_postrider/);
  expect(stateOf(after)).toBe("verified");
  expect(after.nextCheckAt).toBe(NOW + 3_600_000);
  expect(judge(domain(), "ok").nextCheckAt).toBe(NOW + DAY);
  const standing = ({ verifiedAt, failingSince, lapsedAt }: Domain) => [verifiedAt, failingSince, lapsedAt];
  const { verifiedAt: _, ...lapsed } = domain({ lapsedAt: NOW - DAY });
  for (const before of [domain({ failingSince: NOW - DAY }), lapsed])
    expect(standing(judge(before, "unknown", /_postrider/))).toEqual(standing(before));
});

test("new records are looked for every hour for three days, and after that once a day, as the others are", () => {
  const { verifiedAt: _, ...unverified } = domain();
  const young = { ...unverified, createdAt: NOW, dkimKeys: [pair("a", { createdAt: NOW })] };
  const withNewKeys = domain({ dkimKeys: [pair("a", { seenAt: NOW - DAY }), pair("b", { createdAt: NOW })] });
  for (const [of, missing] of [
    [young, /./],
    [{ ...unverified, lapsedAt: NOW }, /./],
    [withNewKeys, /^b/],
  ] as const) {
    const waitAt = (now: number) => judge(of, "missing", missing, now).nextCheckAt! - now;
    expect([NOW, NOW + 3 * DAY - 1, NOW + 3 * DAY].map(waitAt)).toEqual([3_600_000, 3_600_000, DAY]);
  }
  expect(judge(young, "ok").nextCheckAt).toBe(NOW + DAY);
  const neverThere = judge(judge(young, "missing"), "missing", /./, NOW + 5 * DAY);
  expect([neverThere.failingSince, neverThere.lapsedAt]).toEqual([undefined, undefined]);
  expect(judge(domain(), "missing", /_postrider/).nextCheckAt).toBe(NOW + DAY);
});

test("a domain is verified with or without a DMARC record, which is its owner's affair", () => {
  expect(stateOf(judge(domain(), "missing", /^_dmarc/))).toBe("verified");
});

test("new keys take over when both their records are seen, and the old ones are forgotten a week later", () => {
  const rotating = domain({ dkimKeys: [pair("a", { seenAt: NOW - DAY }), pair("b", { createdAt: NOW })] });
  const half = judge(rotating, "missing", /^b-ed\./);
  expect(signingPair(half)?.selector).toBe("a");
  expect(stateOf(half)).toBe("verified");
  const whole = judge(half, "ok");
  expect(signingPair(whole)?.selector).toBe("b");
  expect(whole.dkimKeys[0]).toMatchObject({ selector: "a", replacedAt: NOW });
  expect(judge(whole, "ok", /./, NOW + 7 * DAY - 1).dkimKeys).toHaveLength(2);
  const later = judge(whole, "missing", /^a(-ed)?\./, NOW + 7 * DAY);
  expect(later.dkimKeys.map(({ selector }) => selector)).toEqual(["b"]);
  expect(stateOf(later)).toBe("verified");
});

test("the records of old keys may be gone as soon as those of new ones are there", () => {
  const rotating = domain({ dkimKeys: [pair("a", { seenAt: NOW - DAY }), pair("b", { createdAt: NOW })] });
  const swapped = judge(rotating, "missing", /^a(-ed)?\./);
  expect([signingPair(swapped)?.selector, stateOf(swapped)]).toEqual(["b", "verified"]);
  expect(stateOf(judge(rotating, "missing", /^(a|b)(-ed)?\./))).toBe("failing");
});

test("records are in A-labels, and lines of a zone file", () => {
  const [ownership] = recordsOf(domain(), undefined);
  expect(ownership && zoneLine(ownership)).toBe('_postrider.xn--bcher-kva.example. 3600 IN TXT "token"');
});

test("mail gets the domain's return path only if the last check found that it leads to the host", () => {
  const found = (...names: string[]) =>
    domain({
      lastCheck: {
        at: NOW,
        records: [{ type: "CNAME", name: "bounce.xn--bcher-kva.example", result: "ok", found: names }],
      },
    });
  expect(returnPathOf(found("mail.operator.example"), "Mail.operator.example")).toBe(
    "bounce.xn--bcher-kva.example",
  );
  expect(returnPathOf(found("MX mail.operator.example"), "mail.operator.example")).toBeDefined();
  expect(returnPathOf(found("MX mail.other.example"), "mail.operator.example")).toBeUndefined();
  expect(returnPathOf(domain(), "mail.operator.example")).toBeUndefined();
});

test("what DNS could not be asked about is remembered as it was found last, record by record", () => {
  const of = domain();
  const records = recordsOf(of, "bounces.example.net");
  const look = (now: number, verdicts: readonly RecordVerdict[], before?: Domain["lastCheck"]) =>
    judgeDomain({ ...of, ...(before && { lastCheck: before }) }, { now, records, verdicts, graceMs: DAY })
      .lastCheck;
  const verdicts = (result: RecordVerdict["result"], found: (n: number) => readonly string[]) =>
    records.map(({ type, name }, n): RecordVerdict => ({ type, name, result, found: found(n) }));
  const before = look(
    NOW,
    verdicts("ok", (n) => [`found ${n}`]),
  );
  expect(before).toEqual({ at: NOW, records: verdicts("ok", (n) => [`found ${n}`]) });
  const nothing = verdicts("unknown", () => []);
  expect(look(NOW + 1, nothing, before)).toEqual({
    at: NOW + 1,
    records: verdicts("unknown", (n) => [`found ${n}`]),
  });
  expect(look(NOW + 1, nothing)?.records).toEqual(nothing);
  for (const now of [verdicts("unknown", () => ["new"]), verdicts("missing", () => [])])
    expect(look(NOW + 1, now, before)?.records).toEqual(now);
});
