/** Reads the bodies of message/delivery-status (RFC 3464 §2.1) and message/feedback-report (RFC 5965 §3): groups of fields. */

/** Values by name in lower case; of several with one name, the first. */
export type FieldGroup = ReadonlyMap<string, string>;

/** Groups that are read; a mailing list's DSN may have many. */
const MAX_GROUPS = 200;

/** In order; groups without a field are left out. */
export function parseFieldGroups(text: string): readonly FieldGroup[] {
  const groups: FieldGroup[] = [];
  let group = new Map<string, string>();
  let last: string | undefined;
  for (const line of [...text.split(/\r?\n/), ""]) {
    if (line.trim() === "") {
      if (group.size > 0) groups.push(group);
      if (groups.length >= MAX_GROUPS) break;
      group = new Map();
      last = undefined;
    } else if (/^[ \t]/.test(line)) {
      if (last !== undefined) group.set(last, `${group.get(last)} ${line.trim()}`.slice(0, MAX_VALUE));
    } else last = addField(group, line);
  }
  return groups;
}

const MAX_VALUE = 4 * 1024;

/** Adds a field unless there is one of its name. Returns the name if it was added, so that folded lines go with it. */
function addField(group: Map<string, string>, line: string): string | undefined {
  const colon = line.indexOf(":");
  if (colon < 1) return undefined;
  const name = line.slice(0, colon).trim().toLowerCase();
  if (group.has(name)) return undefined;
  group.set(name, line.slice(colon + 1, colon + 1 + MAX_VALUE).trim());
  return name;
}

/** The value after the type: `rfc822; ann@example.org`. Some reports leave the type out: `<ann@example.org>`. */
export function typedValue(text: string): string {
  const value = /^\s*[\w-]{1,40}\s*;\s*(.*)$/s.exec(text)?.[1] ?? text;
  return value.trim();
}
