/** Reads MTA-STS policies (RFC 8461 §3): which mail hosts a domain has, and whether they prove it by TLS. Pure. */
import { type MailPolicy, POLICY_MODES } from "../../../core/email/mail-policy.ts";

/** A year: RFC 8461 §3.2. */
const LONGEST_AGE_S = 31_557_600;
/**
 * Patterns that are kept, and characters of all of them. Real policies have a handful; but strangers write them, and those of
 * ten thousand domains are held at once.
 */
const MAX_PATTERNS = 100;
const MAX_CHARACTERS = 4_096;

/** `undefined` for a file that is no valid policy. Unknown fields are ignored. Takes time linear in the text, which a stranger wrote. */
export function parseStsPolicy(text: string): MailPolicy | undefined {
  const fields = new Map<string, string>();
  const mx: string[] = [];
  let room = MAX_CHARACTERS;
  for (const line of text.split(/\r?\n/)) {
    const name = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,31}):/.exec(line)?.[1];
    if (name === undefined) continue;
    const value = line.slice(name.length + 1).trim();
    if (name === "mx" && mx.length < MAX_PATTERNS && value.length <= room) {
      room -= value.length;
      mx.push(value.toLowerCase());
    }
    // Of a repeated field the first counts (§3.2): a policy must not fall away because of a line too many.
    if (!fields.has(name)) fields.set(name, value);
  }
  const first = (name: string) => fields.get(name);
  const mode = POLICY_MODES.find((each) => each === first("mode"));
  const maxAge = first("max_age");
  if (first("version") !== "STSv1" || !mode || !/^\d{1,10}$/.test(maxAge ?? "")) return undefined;
  if (mode !== "none" && mx.length === 0) return undefined;
  return { mode, mx, maxAgeMs: Math.min(Number(maxAge), LONGEST_AGE_S) * 1_000 };
}

/** `*.` stands for exactly one label (§4.1). */
export function allowsHost({ mx }: MailPolicy, host: string): boolean {
  const parent = host.slice(host.indexOf(".") + 1);
  return mx.some((pattern) => pattern === host || (pattern.startsWith("*.") && pattern.slice(2) === parent));
}

/** The id of the current policy, by a domain's TXT records; `undefined` unless exactly one names a policy (§3.1). */
export function stsIdOf(records: readonly string[]): string | undefined {
  const ours = records.filter((record) => /^v=STSv1\s*;/.test(record));
  return ours.length === 1 ? /;\s*id=([A-Za-z0-9]{1,32})\s*(;|$)/.exec(ours[0] ?? "")?.[1] : undefined;
}
