/** What is wrong with a name that is not known: the one that was most likely meant, or else all that there are. */
export function unknownName(written: string, known: readonly string[]): string {
  const hint = nearest(written, known);
  return hint ? `unknown; did you mean ${hint}?` : `unknown; known are ${known.join(", ")}`;
}

/** The known name that was most likely meant, if one is close enough to be worth a question. */
function nearest(written: string, known: readonly string[]): string | undefined {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[-_ ]/g, "");
  const wanted = plain(written).slice(0, MAX_LENGTH);
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    const distance = editDistance(wanted, plain(name));
    if (!best || distance < best.distance) best = { name, distance };
  }
  // One slip in three characters: with more, `page` would be taken for `tag`, and whoever asks for it not told of `cursor`.
  return best && best.distance <= Math.min(3, Math.floor(wanted.length / 3)) ? best.name : undefined;
}

/** What is written comes from outside, and the work grows with its length. */
const MAX_LENGTH = 64;

/** Insertions, deletions, replacements and swapped neighbours from one to the other (Damerau and Levenshtein), row by row. */
function editDistance(from: string, to: string): number {
  let above: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = at(row, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const areSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = areSwapped ? at(above, j - 2) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(replaced, swapped, at(row, j) + 1, at(next, j - 1) + 1));
    }
    above = row;
    row = next;
  }
  return at(row, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
