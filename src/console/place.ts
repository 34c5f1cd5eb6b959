/** Where one is in the console: the part of the address after `#`, so that a reload and a bookmark come back to it. */
export interface Place {
  readonly path: readonly string[];
  readonly query: Query;
}

export type Query = Readonly<Record<string, string | undefined>>;

/** `#/messages?account_id=…` */
export function parsePlace(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#?\/?/, "").split("?", 2);
  return {
    path: path
      .split("/")
      .filter((step) => step !== "")
      .map(decode),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

export function toHash(path: readonly string[], query: Query = {}): string {
  return `#/${path.map(encodeURIComponent).join("/")}${toQueryString(query)}`;
}

/** With its question mark; what is absent or empty is left out. */
export function toQueryString(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === "" ? [] : [[name, value]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

/** An address that somebody has typed may hold a lone `%`. */
function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
