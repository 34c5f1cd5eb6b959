/** The names that an address may have on a suppression list: its spellings, and the erased form of each. */
import type { Suppression } from "../../core/records/accounts.ts";
import { spellingsOf } from "../address-spellings.ts";
import type { ErasedForm } from "../erasures/erased-recipient.ts";

export type FoundSuppression = Pick<Suppression, "email" | "reason">;

/** Every name that the list may have for one of the addresses, with the addresses that it stands for. */
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

/** Entries that were found by name, under the addresses that were asked for; each once. */
export function asAsked(
  found: readonly FoundSuppression[],
  names: ReturnType<typeof suppressionNames>,
): readonly FoundSuppression[] {
  const reasons = new Map(
    found.flatMap(({ email, reason }) => (names.get(email) ?? []).map((asked) => [asked, reason] as const)),
  );
  return [...reasons].map(([email, reason]) => ({ email, reason }));
}

/** The forms that an address may have been erased to; none where nobody was erased. */
export function erasedSpellings(email: string, toErased: ErasedForm | undefined): readonly string[] {
  return toErased ? spellingsOf(email).map(toErased) : [];
}
