/** A phone number in a query, as it was meant: a leading `+` that was not escaped arrives as a space. */
export function restorePlus(text: string): string {
  return text.replace(/^ (?=\d)/, "+");
}
