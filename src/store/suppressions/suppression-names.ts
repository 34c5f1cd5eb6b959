/** The names under which an address may be on a suppression list: its spellings, and the erased form of each. */
import type { Suppression } from "../../core/records/accounts.ts";
import { spellingsOf } from "../address-spellings.ts";
import type { ErasedForm } from "../erasures/erased-recipient.ts";

export type FoundSuppression = Pick<Suppression, "email" | "reason">;

/** Every name under which one of the addresses may be on the list, with the addresses that the name stands for. */
export function suppressionNames(
  emails: readonly string[],
  toErased: ErasedForm | undefined,
): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const email of emails) {
    for (const name of [...spellingsOf(email), ...erasedSpellings(email, toErased)]) {
      const same = names.get(name);
      if (same) same.push(email);
      else names.set(name, [email]);
    }
  }
  return names;
}

/** The entries that were found, with the addresses that were asked for in place of their names; each address once. */
export function asAsked(
  found: readonly FoundSuppression[],
  names: ReturnType<typeof suppressionNames>,
): readonly FoundSuppression[] {
  const reasons = new Map(
    found.flatMap(({ email, reason }) => (names.get(email) ?? []).map((asked) => [asked, reason] as const)),
  );
  return [...reasons].map(([email, reason]) => ({ email, reason }));
}

/** The erased forms that an address may have; none if nobody was erased. */
export function erasedSpellings(email: string, toErased: ErasedForm | undefined): readonly string[] {
  return toErased ? spellingsOf(email).map(toErased) : [];
}
