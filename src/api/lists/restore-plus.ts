/** Restores the `+` of a phone number, or of a time's offset, in a query: where it was not escaped, it arrives as a space. */
export function restorePlus(text: string): string {
  return text.replace(/^ (?=\d)| (?=\d\d:\d\d$)/, "+");
}
