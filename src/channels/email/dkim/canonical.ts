/** The relaxed canonical forms of RFC 6376 §3.4. Octets are written as latin1 characters, one each. Pure. */

/** A header field as it stands in the message, folds and all, without its last line end. */
export type HeaderField = string;

/** Name in lower case, the value on one line, with single blanks (§3.4.2); without a line end. */
function relaxedField(field: HeaderField): string {
  const colon = field.indexOf(":");
  const value = field
    .slice(colon + 1)
    .replaceAll("\r\n", "")
    .replace(/[ \t]+/g, " ")
    .trim();
  return `${nameOf(field)}:${value}`;
}

export function nameOf(field: HeaderField): string {
  return field.slice(0, field.indexOf(":")).trimEnd().toLowerCase();
}

/** The fields of a header section, in order. */
export function fieldsOf(header: string): readonly HeaderField[] {
  return header.split(/\r\n(?![ \t])/);
}

/**
 * What a signature is made over (§3.7): the named fields, a name that stands twice taking the next one from below
 * (§5.4.2) and nothing once there is none, and last the signature's own field, whose `b=` is empty.
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

/** Takes a body whole lines at a time and gives its relaxed form (§3.4.4): no blanks at line ends, no empty lines at the end. */
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
      // The first of the line ends closes a line that has something in it; the others may be the body's last.
      emptyLines = ends - 1;
      return `${"\r\n".repeat(wasPending)}${kept}\r\n`;
    },
  };
}

/** Where the line ends at the end begin. A regular expression would take the square of a long run of them. */
function endOfText(text: string): number {
  let end = text.length;
  while (text.endsWith("\r\n", end)) end -= 2;
  return end;
}
