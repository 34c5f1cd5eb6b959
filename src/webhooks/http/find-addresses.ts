import type { Clock } from "../../core/clock.ts";
import { bothFamilies } from "../../core/domains/both-families.ts";
import type { AddressRules } from "./address-rules.ts";
import type { Target } from "./target.ts";

/** The part of `node:dns/promises` that is used here. */
export interface Resolver {
  resolve4(name: string): Promise<readonly string[]>;
  resolve6(name: string): Promise<readonly string[]>;
}

/** Addresses that may be connected to, in the order to try, none if the name has none; or why nothing may be. */
export type Found =
  | { readonly addresses: readonly string[] }
  | { readonly reason: "dns" | "refused_address"; readonly message: string };

/**
 * Asks once, for A and AAAA. If one address is blocked, all are refused: a name that also leads to a private network is an
 * attack or a mistake.
 */
export async function findAddresses(
  target: Target,
  { resolve, rules }: { readonly resolve: Resolve; readonly rules: AddressRules },
): Promise<Found> {
  const answers = await answersFor(target, resolve);
  if ("message" in answers) return { reason: "dns", ...answers };
  for (const address of answers.addresses) {
    const range = rules.blockedBy(address);
    if (range !== undefined) return { reason: "refused_address", message: refusal(target, address, range) };
  }
  return answers;
}

type Answers = { readonly addresses: readonly string[] } | { readonly message: string };

/** Looks up all addresses of a name; see `resolveAddresses`. */
export type Resolve = (name: string) => Promise<Answers>;

function answersFor({ hostname, isAddress }: Target, resolve: Resolve): Answers | Promise<Answers> {
  if (isAddress) return { addresses: [hostname] };
  // RFC 6761 §6.3: it is this machine, whatever a name server says.
  if (/(^|\.)localhost$/.test(hostname)) return { addresses: ["127.0.0.1"] };
  return resolve(hostname);
}

/** All addresses of a name, of both families, in the order to try; or why there is none. */
export async function resolveAddresses(resolver: Resolver, name: string, clock: Clock): Promise<Answers> {
  const [v4, v6] = await bothFamilies<Answers>({
    asked: [ask(() => resolver.resolve4(name)), ask(() => resolver.resolve6(name))],
    hasAddresses: (answer) => addressesOf(answer).length > 0,
    none: { addresses: [] },
    clock,
  });
  const addresses = inTurn(addressesOf(v4), addressesOf(v6));
  if (addresses.length > 0) return { addresses };
  return [v4, v6].find((answer) => "message" in answer) ?? { addresses };
}

function addressesOf(answer: Answers): readonly string[] {
  return "addresses" in answer ? answer.addresses : [];
}

/** IPv4 comes first, since many networks announce IPv6 but do not have it. IPv6 comes second, since some networks have nothing else. */
function inTurn(v4: readonly string[], v6: readonly string[]): readonly string[] {
  const pairs = Array.from({ length: Math.max(v4.length, v6.length) }, (_, index) => [v4[index], v6[index]]);
  return pairs.flat().filter((address) => address !== undefined);
}

/** Returns a failure as a value: if A fails, AAAA may still have an answer. */
async function ask(question: () => Promise<readonly string[]>): Promise<Answers> {
  try {
    return { addresses: await question() };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return { message: `the name could not be resolved: ${code}` };
  }
}

function refusal({ hostname, isAddress }: Target, address: string, range: string): string {
  const where = isAddress ? address : `${hostname} leads to ${address}, which`;
  return `${where} is in ${range}: webhooks go there only if the setting webhook_allowed_ranges contains it`;
}
