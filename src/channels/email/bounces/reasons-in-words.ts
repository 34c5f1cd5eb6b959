/** Finds in what a report says for people why each recipient was refused. Pure. */

/**
 * The reasons, by address in lower case: behind it, as OpenSMTPD writes them (`ann@example.net: 550 …`), or in indented lines below it, as
 * Exim does.
 */
export function reasonsInWords(words: string): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  let last: { readonly address: string; readonly indent: number } | undefined;
  for (const line of words.split(/\r?\n/)) {
    const text = line.trim();
    const indent = line.length - line.trimStart().length;
    if (last && text !== "" && indent > last.indent) {
      reasons.set(last.address, `${reasons.get(last.address)} ${text}`.trim());
      continue;
    }
    const [, address = "", reason = ""] = NAMED.exec(text) ?? [];
    const isNew = address !== "" && !reasons.has(address.toLowerCase());
    last = isNew ? { address: address.toLowerCase(), indent } : undefined;
    if (last) reasons.set(last.address, reason.trim());
  }
  return withAliases(reasons);
}

/** Exim reports an alias as the recipient, but tells why below the address that it leads to: `(generated from ann@example.net)`. */
function withAliases(reasons: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const all = new Map(reasons);
  for (const reason of reasons.values()) {
    const [marked, name = ""] = GENERATED.exec(reason) ?? [];
    const alias = name.toLowerCase();
    if (marked && !all.has(alias)) all.set(alias, reason.replace(marked, "").trim());
  }
  return all;
}

const GENERATED = /\(generated (?:from|by) ([^\s()]{1,320})\)/;

/** Begins with an address, with nothing behind it but what is said of it. */
const NAMED = /^<?([^\s<>:]{1,64}@[^\s<>:]{1,255})>?(?:$|:(.*))/;
