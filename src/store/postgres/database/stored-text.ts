/**
 * PostgreSQL's texts hold any character but U+0000, which callers and peers may send. It is stored as an escape sequence, and
 * so is the character that begins such a sequence: so texts come back as they were, and only equal texts are stored alike.
 */
const ESCAPE = "\ue000";
const NUL = `${ESCAPE}0`;
const ITSELF = `${ESCAPE}1`;

export function toStoredText(text: string): string {
  if (!text.includes("\0") && !text.includes(ESCAPE)) return text;
  return text.replaceAll(ESCAPE, ITSELF).replaceAll("\0", NUL);
}

export function fromStoredText(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  return text.replaceAll(NUL, "\0").replaceAll(ITSELF, ESCAPE);
}
