/** PostgreSQL's texts hold any character but U+0000, which peers may send; it is kept as the sign for what is no character. */
export function storable(text: string): string {
  return text.includes("\0") ? text.replaceAll("\0", "\ufffd") : text;
}
