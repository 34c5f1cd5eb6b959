/** DLT ids that a spreadsheet has read as numbers. It keeps 15 digits of a number, and real ids have up to 19. */

export const ROUNDED = "was rounded by a spreadsheet: give the column the format text and export again";

/** Whether the id is written like `1.10716E+18`, or with a decimal comma. */
export function isRounded(id: string): boolean {
  return /^\d(?:[.,]\d+)?E\+?\d+$/i.test(id);
}

/**
 * Whether the ids of a list have been written out after that, with zeros for the digits that are lost. One may end like this by
 * chance, but not all of them: then together they have so many zeros that one list in 10,000 does.
 */
export function areRounded(ids: Iterable<string>): boolean {
  let zeros = 0;
  for (const id of ids) {
    const lost = /^\d{15}(\d+)$/.exec(id)?.[1] ?? "";
    if (/[1-9]/.test(lost)) return false;
    zeros += lost.length;
  }
  return zeros >= 4;
}
