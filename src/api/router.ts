import type { Endpoint } from "./endpoint.ts";

export type Match =
  | { readonly kind: "found"; readonly endpoint: Endpoint; readonly params: Params }
  /** The path exists, the method does not. `allow` is the value of the header. */
  | { readonly kind: "wrong_method"; readonly allow: string; readonly cors: boolean }
  | { readonly kind: "unknown" };

type Params = Readonly<Record<string, string>>;

/**
 * Finds the endpoint of a request. Plain paths and paths whose only parameter is the last segment cost one look
 * into a map; the rest are compared segment by segment. HEAD is answered by GET.
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
    if (row) return pick(row, method, NO_PARAMS);
    const cut = path.lastIndexOf("/") + 1;
    const prefixed = cut < path.length ? byPrefix.get(path.slice(0, cut)) : undefined;
    if (prefixed) {
      const name = prefixed.segments.at(-1)?.name ?? "";
      return pick(prefixed, method, { [name]: decoded(path.slice(cut)) });
    }
    return matchSegments(others, method, path);
  };
}

/** The path of a request target as `Request.url` gives it, without the query: `new URL` costs a microsecond. */
export function pathOf(url: string): string {
  const start = pathStart(url);
  const query = url.indexOf("?", start);
  const path = query === -1 ? url.slice(start) : url.slice(start, query);
  const fragment = path.indexOf("#");
  return fragment === -1 ? path : path.slice(0, fragment);
}

export function queryOf(url: string): URLSearchParams {
  const start = url.indexOf("?");
  return new URLSearchParams(start === -1 ? "" : url.slice(start + 1));
}

/** A Host header that is no host leaves a bare path. */
function pathStart(url: string): number {
  if (url.startsWith("/")) return 0;
  const start = url.indexOf("/", url.indexOf("://") + 3);
  return start === -1 ? url.length : start;
}

interface Row {
  readonly segments: readonly Segment[];
  readonly methods: Map<string, Endpoint>;
  allow: string;
  cors: boolean;
}

interface Segment {
  readonly text: string;
  /** Present on a parameter. */
  readonly name?: string;
}

const NO_PARAMS: Params = Object.freeze({});

interface Tables {
  readonly exact: Map<string, Row>;
  readonly byPrefix: Map<string, Row>;
  readonly others: Row[];
}

function rowFor(path: string, { exact, byPrefix, others }: Tables): Row {
  const segments = path.split("/").slice(1).map(toSegment);
  const names = segments.filter((segment) => segment.name !== undefined);
  const row: Row = { segments, methods: new Map(), allow: "", cors: false };
  if (names.length === 0) return getOrPut(exact, path, row);
  if (names.length === 1 && segments.at(-1)?.name !== undefined) {
    return getOrPut(byPrefix, path.slice(0, path.lastIndexOf("/") + 1), row);
  }
  const shape = segments.map((segment) => segment.name === undefined);
  const known = others.find((other) => sameShape(other.segments, segments, shape));
  if (known) return known;
  others.push(row);
  return row;
}

function toSegment(text: string): Segment {
  return text.startsWith("{") && text.endsWith("}") ? { text, name: text.slice(1, -1) } : { text };
}

function getOrPut(map: Map<string, Row>, key: string, row: Row): Row {
  const known = map.get(key);
  if (known) return known;
  map.set(key, row);
  return row;
}

function sameShape(a: readonly Segment[], b: readonly Segment[], literal: readonly boolean[]): boolean {
  return (
    a.length === b.length &&
    a.every((one, i) => (one.name === undefined) === literal[i] && (!literal[i] || one.text === b[i]?.text))
  );
}

function addTo(row: Row, endpoint: Endpoint, path: string): void {
  if (row.methods.has(endpoint.method)) throw new Error(`two endpoints for ${endpoint.method} ${path}`);
  row.methods.set(endpoint.method, endpoint);
  row.cors ||= endpoint.cors === true;
  const methods = [...row.methods.keys()];
  row.allow = [
    ...methods,
    ...(row.methods.has("GET") ? ["HEAD"] : []),
    ...(row.cors ? ["OPTIONS"] : []),
  ].join(", ");
}

function pick(row: Row, method: string, params: Params): Match {
  const endpoint = row.methods.get(method === "HEAD" ? "GET" : method);
  if (endpoint) return { kind: "found", endpoint, params };
  return { kind: "wrong_method", allow: row.allow, cors: row.cors };
}

function matchSegments(rows: readonly Row[], method: string, path: string): Match {
  const given = path.split("/", MAX_SEGMENTS).slice(1);
  for (const row of rows) {
    const params = paramsOf(row.segments, given);
    if (params) return pick(row, method, params);
  }
  return { kind: "unknown" };
}

/** More than any path has. */
const MAX_SEGMENTS = 16;

function paramsOf(segments: readonly Segment[], given: readonly string[]): Params | undefined {
  if (segments.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const text = given[index] ?? "";
    const value = segment.name === undefined ? undefined : decoded(text);
    if (segment.name === undefined ? segment.text !== text : !value) return undefined;
    if (segment.name !== undefined && value !== undefined) params[segment.name] = value;
  }
  return params;
}

/** Broken escapes are taken as they stand: such a thing does not exist, and its endpoint says so. */
function decoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
