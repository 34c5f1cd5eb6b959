import type { Endpoint } from "./endpoint.ts";

export type Match =
  | { readonly kind: "found"; readonly endpoint: Endpoint; readonly params: Params }
  /** The path exists, the method does not. `allow` is the value of the header. */
  | { readonly kind: "wrong_method"; readonly allow: string; readonly cors: boolean }
  | { readonly kind: "unknown" };

type Params = Readonly<Record<string, string>>;

/**
 * Finds the endpoint of a request. Paths without parameters, or with one as the last segment, are looked up in a map; the
 * rest are compared segment by segment. HEAD finds the endpoint of GET.
 */
export function createRouter(endpoints: readonly Endpoint[]): (method: string, path: string) => Match {
  const exact = new Map<string, Row>();
  const byPrefix = new Map<string, Row>();
  const others: Row[] = [];
  for (const endpoint of endpoints) {
    for (const path of [endpoint.path, ...(endpoint.aliases ?? [])]) {
      addTo(rowFor(path, { exact, byPrefix, others }), endpoint, path);
    }
  }

  return (method, path) => {
    const row = exact.get(path);
    if (row) return pick(row, method, NOTHING);
    const cut = path.lastIndexOf("/") + 1;
    const prefixed = cut < path.length ? byPrefix.get(path.slice(0, cut)) : undefined;
    if (prefixed) return pick(prefixed, method, [path.slice(cut)]);
    return matchSegments(others, method, path);
  };
}

/** The path of `Request.url`, without the query. Cut out by hand, since `new URL` costs a microsecond. */
export function pathOf(url: string): string {
  const start = pathStart(url);
  const query = url.indexOf("?", start);
  const path = query === -1 ? url.slice(start) : url.slice(start, query);
  const fragment = path.indexOf("#");
  return fragment === -1 ? path : path.slice(0, fragment);
}

/** The query of `Request.url`. */
export function queryOf(url: string): URLSearchParams {
  const start = url.indexOf("?");
  return new URLSearchParams(start === -1 ? "" : url.slice(start + 1));
}

/** A URL that `new Request` accepts: without a usable Host header, which HTTP/1.0 allows, the host is `localhost`. */
export function fullUrl(url: string): string {
  return URL.canParse(url) ? url : `http://localhost${url.slice(pathStart(url))}`;
}

/** Without a usable Host header the URL is a bare path. */
function pathStart(url: string): number {
  if (url.startsWith("/")) return 0;
  const start = url.indexOf("/", url.indexOf("://") + 3);
  return start === -1 ? url.length : start;
}

/** The endpoints of one path, whatever its parameters are called. */
interface Row {
  readonly segments: readonly Segment[];
  readonly methods: Map<string, Entry>;
  allow: string;
  cors: boolean;
}

interface Entry {
  readonly endpoint: Endpoint;
  /** The match of a path without parameters, made once. */
  readonly found: Match;
  /** Names of the path's parameters, in order. */
  readonly names: readonly string[];
}

/** A literal, or `undefined` for a parameter. */
type Segment = string | undefined;

const NOTHING: readonly string[] = [];
const NO_PARAMS: Params = Object.freeze({});

interface Tables {
  readonly exact: Map<string, Row>;
  readonly byPrefix: Map<string, Row>;
  readonly others: Row[];
}

function rowFor(path: string, { exact, byPrefix, others }: Tables): Row {
  const segments = segmentsOf(path);
  const row: Row = { segments, methods: new Map(), allow: "", cors: false };
  const parameters = segments.filter((segment) => segment === undefined).length;
  if (parameters === 0) return getOrPut(exact, path, row);
  if (parameters === 1 && segments.at(-1) === undefined) {
    return getOrPut(byPrefix, path.slice(0, path.lastIndexOf("/") + 1), row);
  }
  const known = others.find((other) => isSame(other.segments, segments));
  if (known) return known;
  others.push(row);
  return row;
}

const PARAMETER = /^\{(\w+)\}$/;

function segmentsOf(path: string): readonly Segment[] {
  return path
    .split("/")
    .slice(1)
    .map((segment) => (PARAMETER.test(segment) ? undefined : segment));
}

function getOrPut(map: Map<string, Row>, key: string, row: Row): Row {
  const known = map.get(key);
  if (known) return known;
  map.set(key, row);
  return row;
}

function isSame(a: readonly Segment[], b: readonly Segment[]): boolean {
  return a.length === b.length && a.every((segment, index) => segment === b[index]);
}

function addTo(row: Row, endpoint: Endpoint, path: string): void {
  if (row.methods.has(endpoint.method)) throw new Error(`two endpoints for ${endpoint.method} ${path}`);
  const names = path.split("/").flatMap((segment) => PARAMETER.exec(segment)?.[1] ?? []);
  row.methods.set(endpoint.method, {
    endpoint,
    names,
    found: { kind: "found", endpoint, params: NO_PARAMS },
  });
  row.cors ||= endpoint.cors === true;
  const more = [...(row.methods.has("GET") ? ["HEAD"] : []), ...(row.cors ? ["OPTIONS"] : [])];
  row.allow = [...row.methods.keys(), ...more].join(", ");
}

/** `values`: of the path's parameters, in order, still escaped. */
function pick(row: Row, method: string, values: readonly string[]): Match {
  const entry = row.methods.get(method === "HEAD" ? "GET" : method);
  if (!entry) return { kind: "wrong_method", allow: row.allow, cors: row.cors };
  if (entry.names.length === 0) return entry.found;
  return { kind: "found", endpoint: entry.endpoint, params: toParams(entry.names, values) };
}

function toParams(names: readonly string[], values: readonly string[]): Params {
  const [first = ""] = names;
  if (names.length === 1) return { [first]: decoded(values[0] ?? "") };
  return Object.fromEntries(names.map((name, index) => [name, decoded(values[index] ?? "")]));
}

function matchSegments(rows: readonly Row[], method: string, path: string): Match {
  const given = path.split("/", MAX_SEGMENTS).slice(1);
  const row = rows.find(({ segments }) => fits(segments, given));
  if (!row) return { kind: "unknown" };
  const values = given.filter((_, index) => row.segments[index] === undefined);
  return pick(row, method, values);
}

/** More than any path has. */
const MAX_SEGMENTS = 16;

function fits(segments: readonly Segment[], given: readonly string[]): boolean {
  return (
    segments.length === given.length &&
    segments.every((segment, index) =>
      segment === undefined ? given[index] !== "" : segment === given[index],
    )
  );
}

/** Broken escapes stay as they are: the endpoint will find nothing under such a name, and say so. */
function decoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
