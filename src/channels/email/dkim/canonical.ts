/** The relaxed canonical forms of RFC 6376 §3.4, over text with a character for each octet (latin1). Pure. */

/** A header field as it is in the message, folds included, without its last line end. */
export type HeaderField = string;

export function nameOf(field: HeaderField): string {
  return field.slice(0, field.indexOf(":")).trimEnd().toLowerCase();
}

/** The fields of a header section, in order. */
export function fieldsOf(header: string): readonly HeaderField[] {
  return header.split(/\r\n(?![ \t])/);
}

/**
 * The header text that is signed (§3.7): the named fields, then the signature's own field with an empty `b=`. A name that is
 * given more than once stands for the fields of that name from the last one up, and then for nothing (§5.4.2).
 */
export function signedText(
  fields: readonly HeaderField[],
  names: readonly string[],
  signature: HeaderField,
): string {
  const left = new Map<string, HeaderField[]>();
  for (const field of fields) left.set(nameOf(field), [...(left.get(nameOf(field)) ?? []), field]);
  const signed = names.flatMap((name) => left.get(name.toLowerCase())?.pop() ?? []);
  return [...signed, signature].map(relaxedField).join("\r\n");
}

/** The name in lower case and the value on one line with single blanks (§3.4.2); without a line end. */
function relaxedField(field: HeaderField): string {
  const colon = field.indexOf(":");
  const value = field
    .slice(colon + 1)
    .replaceAll("\r\n", "")
    .replace(/[ \t]+/g, " ")
    // Not `trim`, which would take an octet of a UTF-8 character for a no-break space.
    .replace(/^ | $/g, "");
  return `${nameOf(field)}:${value}`;
}

/** Makes the relaxed form (§3.4.4) of a body, some whole lines at a time: no blanks at line ends, no empty lines at the end. */
export function createRelaxedBody(): { readonly take: (lines: string) => string } {
  let emptyLines = 0;
  return {
    take(lines) {
      const relaxed = lines.replace(/[ \t]+/g, " ").replaceAll(" \r\n", "\r\n");
      const kept = relaxed.slice(0, endOfText(relaxed));
      const wasPending = emptyLines;
      const ends = (relaxed.length - kept.length) / 2;
      if (kept === "") {
        emptyLines += ends;
        return "";
      }
      // The first line end closes the last line with text; the others are empty lines, perhaps the last of the body.
      emptyLines = ends - 1;
      return `${"\r\n".repeat(wasPending)}${kept}\r\n`;
    },
  };
}

/** The index at which the final run of line ends begins. A regular expression would take quadratic time for a long one. */
function endOfText(text: string): number {
  let end = text.length;
  while (text.endsWith("\r\n", end)) end -= 2;
  return end;
}
