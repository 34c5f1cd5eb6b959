/**
 * The national language shift tables of GSM-7 (3GPP TS 23.038 annex A), in which phones write Turkish, Spanish, Portuguese, Urdu and
 * the languages of India in septets. They are only read: what is sent is in GSM-7 without them, or in UCS-2.
 */
import { type Gsm7Tables, STANDARD_GSM7 } from "./gsm7.ts";

/** National Language Identifiers (§6.2.1.2.4), as a user data header names them. */
export interface NationalLanguages {
  /** Whose locking shift table replaces the default alphabet. */
  readonly locking?: number | undefined;
  /** Whose single shift table replaces the extension table. */
  readonly single?: number | undefined;
}

/** Absent or unknown languages change nothing (§6.2.1.2.1). */
export function nationalGsm7({ locking, single }: NationalLanguages): Gsm7Tables {
  const alphabet = LANGUAGES.get(locking ?? 0)?.locking?.();
  const extension = LANGUAGES.get(single ?? 0)?.single();
  return { alphabet: alphabet ?? STANDARD_GSM7.alphabet, extension: extension ?? STANDARD_GSM7.extension };
}

interface Language {
  readonly locking?: () => Gsm7Tables["alphabet"];
  readonly single: () => Gsm7Tables["extension"];
}

/** A language in Latin letters: what differs from the default alphabet and the extension table, as code and character. */
function latin(single: string, locking?: string): Language {
  return {
    single: () => new Map([...STANDARD_GSM7.extension, ...differences(single)]),
    ...(locking !== undefined && {
      locking: () => Object.assign([...STANDARD_GSM7.alphabet], Object.fromEntries(differences(locking))),
    }),
  };
}

function differences(list: string): [code: number, character: string][] {
  return list.split(" ").map((each) => [Number.parseInt(each, 16), each.slice(2)]);
}

/** A language in letters of its own: the code points that fill the free places of both frames, in order. */
function ownLetters(locking: string, single: string): Language {
  return {
    locking: () => fill(LOCKING_FRAME, locking),
    single: () => new Map([...fill(SINGLE_FRAME, single).entries()].filter(isNotVoid)),
  };
}

const FREE = "·";
const VOID = " ";

const isNotVoid = ([, character]: readonly [number, string]) => character !== VOID;

const LOCKING_FRAME = [
  "··········\n··\r··",
  "···········\u001b····",
  " !······)(··,·.·",
  "0123456789:;···?",
  "················",
  "················",
  "·abcdefghijklmno",
  "pqrstuvwxyz·····",
].join("");

const SINGLE_FRAME = [
  "@£$¥¿\"¤%&'\f*+ -/",
  "<=>¡^¡_#*·· ····",
  "········{}·····\\",
  "············[~]·",
  "|ABCDEFGHIJKLMNO",
  "PQRSTUVWXYZ     ",
  "     €          ",
].join("");

function fill(frame: string, codePoints: string): string[] {
  const characters = codePoints.split(" ").flatMap(charactersFrom).values();
  return Array.from(frame, (each) => (each === FREE ? (characters.next().value ?? VOID) : each));
}

/** The characters of a range such as `901-903`. The scripts of India have the same letters in one order, each with gaps of its own. */
function charactersFrom(range: string): string[] {
  const [first = 0, last = first] = range.split("-").map((end) => Number.parseInt(end, 16));
  const all = Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index));
  return all.map((character) => (/\p{Cn}/u.test(character) ? VOID : character));
}

const LANGUAGES: ReadonlyMap<number, Language> = new Map([
  // Turkish
  [1, latin("47Ğ 49İ 53Ş 63ç 67ğ 69ı 73ş", "04€ 07ı 0bĞ 0cğ 1cŞ 1dş 40İ 60ç")],
  // Spanish, which has no locking shift table
  [2, latin("09ç 41Á 49Í 4fÓ 55Ú 61á 69í 6fó 75ú")],
  // Portuguese
  [
    3,
    latin(
      "05ê 09ç 0bÔ 0cô 0eÁ 0fá 12Φ 13Γ 15Ω 16Π 17Ψ 18Σ 19Θ 1fÊ 41À 49Í 4fÓ 55Ú 5bÃ 5cÕ 61Â 69í 6fó 75ú 7bã 7cõ 7fâ",
      "04ê 06ú 07í 08ó 09ç 0bÔ 0cô 0eÁ 0fá 12ª 13Ç 14À 15∞ 16^ 17\\ 18€ 19Ó 1a| 1cÂ 1dâ 1eÊ 24º 40Í 5bÃ 5cÕ 5dÚ 60~ 7bã 7cõ 7d`",
    ),
  ],
  // Bengali
  [4, ownLetters("981-983 985-9b9 9bc-9ce 9d7 9dc-9dd 9f0-9f1", "9e6-9ef 9df-9e3 9f2-9fa")],
  // Gujarati
  [5, ownLetters("a81-a83 a85-ab9 abc-acd ad0 ae0-ae3 af1", "964-965 ae6-aef")],
  // Hindi
  [6, ownLetters("901-903 905-939 93c-94d 950 972 97b-97c 97e-97f", "964-96f 951-954 958-963 970-971")],
  // Kannada
  [7, ownLetters("c81-c83 c85-cb9 cbc-ccd cd5-cd6 ce0-ce3", "964-965 ce6-cef cde cf1-cf2")],
  // Malayalam
  [8, ownLetters("d01-d03 d05-d39 d3c-d4d d57 d60-d63 d79", "964-965 d66-d75 d7a-d7f")],
  // Oriya
  [9, ownLetters("b01-b03 b05-b39 b3c-b4d b56-b57 b60-b63", "964-965 b66-b6f b5c-b5d b5f b70-b71")],
  // Punjabi
  [10, ownLetters("a01-a03 a05-a39 a3c-a4d a51 a70-a74", "964-965 a66-a6f a59-a5c a5e a75")],
  // Tamil
  [11, ownLetters("b81-b83 b85-bb9 bbc-bcd bd0 bd7 bf0-bf2 bf9", "964-965 be6-bef bf3-bf8 bfa")],
  // Telugu
  [12, ownLetters("c01-c03 c05-c39 c3c-c4d c55-c56 c60-c63", "20 20 c66-c6f c58-c59 c78-c7f")],
  // Urdu
  [
    13,
    ownLetters(
      "627 622 628 67b 680 67e 6a6 62a 6c2 67f 679 67d 67a 67c 62b-62c 681 684 683 685-687 62d-62f 68c 688-68a " +
        "68f 68d 630-631 691 693 699 632 696 698 69a 633-639 641-642 6a9-6ab 6af 6b3 6b1 644-646 6ba-6bc 648 6c4 " +
        "6d5 6c1 6be 621 6cc 6d0 6d2 64d 650 64f 657 654-655 651 653 656 670",
      "600-601 6f0-6f9 60c-614 61b 61f 640 652 658 66b-66c 672-673 6cd 6d4",
    ),
  ],
]);
