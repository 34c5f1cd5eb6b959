/** A phone number or a time in a query, as it was meant: a `+` in front, or of the offset, that was not escaped arrives as a space. */
export function restorePlus(text: string): string {
  return text.replace(/^ (?=\d)| (?=\d\d:\d\d$)/, "+");
}
