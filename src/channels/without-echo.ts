/**
 * Peers repeat in their answers what they were told: the password, the text. Their words are logged, raise alarms and are
 * shown, so what they repeat is taken out first.
 */

export interface Told {
  /** Passwords, keys. */
  readonly secrets: readonly string[];
  /** Texts and numbers. Only a longer run counts as repeated, since ordinary words are in them too. */
  readonly content?: readonly string[];
}

/** So many characters in a row are no coincidence. */
const SECRET_RUN = 6;
const CONTENT_RUN = 12;

/** Values shorter than a run are taken out whole; those that are shorter still are in too many words. */
const SHORTEST = 4;

/** Words as long as this have been cut, maybe within what they repeat. */
const CUT_FROM = 190;

/** The words with `…` for what they repeat, as it was or in the encodings of URLs, JSON, base64 and hexadecimal. */
export function withoutEcho(words: string, { secrets, content = [] }: Told): string {
  return takeOut(takeOut(words, secrets, SECRET_RUN), content, CONTENT_RUN);
}

function takeOut(words: string, values: readonly string[], run: number): string {
  const told = values.filter(({ length }) => length >= run).flatMap(formsOf);
  const short = values.filter(({ length }) => length >= SHORTEST && length < run);
  const kept = told.length > 0 ? withoutRuns(words, told, run) : words;
  return short.reduce((text, value) => text.replaceAll(value, "…"), kept);
}

function withoutRuns(words: string, told: readonly string[], run: number): string {
  // No run goes over a line end: words are on one line.
  const all = `\n${told.join("\n")}\n`;
  let kept = "";
  for (let at = 0; at < words.length; ) {
    const length = repeatedAt(words, at, { all, run });
    kept += length > 0 ? "…" : words[at];
    at += Math.max(1, length);
  }
  return kept;
}

/** How many characters from `at` on repeat what was told; 0 if fewer than a run. */
function repeatedAt(words: string, at: number, { all, run }: { all: string; run: number }): number {
  const left = words.length - at;
  // At a cut, the beginning of what was told counts however short it is.
  if (left < run) return words.length >= CUT_FROM && all.includes(`\n${words.slice(at)}`) ? left : 0;
  let length = run;
  if (!all.includes(words.slice(at, at + length))) return 0;
  while (length < left && all.includes(words.slice(at, at + length + 1))) length++;
  return length;
}

function formsOf(value: string): readonly string[] {
  const octets = Buffer.from(value, "utf8");
  const encoded = encodeURIComponent(value.toWellFormed());
  const utf16 = Buffer.from(value, "utf16le").swap16();
  const hex = [octets, utf16].map((each) => each.toString("hex"));
  return [
    value.replace(/[\p{Cc}\p{Cf}\s]+/gu, " "),
    JSON.stringify(value).slice(1, -1),
    encoded,
    encoded.replaceAll("%20", "+"),
    ...hex,
    ...hex.map((each) => each.toUpperCase()),
    ...[0, 1, 2].flatMap((before) => base64Of(octets, before)),
  ];
}

/** As it is written behind octets that are not known, such as a user name: without the letters that depend on them. */
function base64Of(octets: Uint8Array, before: number): readonly string[] {
  const text = Buffer.concat([Buffer.alloc(before), octets])
    .toString("base64")
    .replace(/=+$/, "");
  const own = text.slice(Math.ceil((before * 8) / 6));
  return [own, own.replaceAll("+", "-").replaceAll("/", "_")];
}
