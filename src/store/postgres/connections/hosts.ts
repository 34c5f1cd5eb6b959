/** A database URL that may name several hosts, as libpq reads it; `pg` itself knows one. */
export interface DatabaseHosts {
  /** One URL per host, in the order given. */
  readonly urls: readonly string[];
  /** Only a server that takes writes will do: said by `target_session_attrs`, or by there being several. */
  readonly isToBeWritable: boolean;
  /** False, said by `prepare=false`: a pooler may give each transaction another connection. */
  readonly isPrepared: boolean;
  /** Hosts and database, in words that hold no secret. */
  readonly place: string;
}

/**
 * Reads `postgres://user:password@a:5432,b:5433/name?target_session_attrs=read-write`. Throws, in words for the
 * operator that hold no secret, where it cannot be one.
 */
export function readHosts(url: string): DatabaseHosts {
  const match = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/.exec(url);
  if (!match) throw new Error("expected postgres://user:password@host:port/name");
  const [, start = "", authority = "", path = "", query = ""] = match;
  const hosts = authority.split(",");
  if (hosts.length > 1 && hosts.some((host) => !/^(\[[0-9a-f:.]+\]|[^\s:[\]]+)(:\d{1,5})?$/i.test(host))) {
    throw new Error(`expected hosts with ports, separated by commas, got "${authority}"`);
  }
  const settings = query.split("&").filter((each) => each !== "");
  const wanted = settings.find((each) => each.startsWith(WANTED))?.slice(WANTED.length);
  if (wanted !== undefined && !TAKING_WRITES.has(wanted)) {
    throw new Error(`${WANTED}${wanted}: expected one of ${[...TAKING_WRITES].join(", ")}`);
  }
  const prepared = settings.find((each) => each.startsWith(PREPARED))?.slice(PREPARED.length) ?? "true";
  if (!/^(true|false)$/.test(prepared)) throw new Error(`${PREPARED}${prepared}: expected true or false`);
  const rest = settings.filter((each) => !each.startsWith(WANTED) && !each.startsWith(PREPARED)).join("&");
  return {
    urls: hosts.map((host) => `${start}${host}${path}${rest && `?${rest}`}`),
    isToBeWritable: hosts.length > 1 || wanted !== undefined,
    isPrepared: prepared === "true",
    place: `${decodeURIComponent(authority)}${path}`,
  };
}

const WANTED = "target_session_attrs=";
const PREPARED = "prepare=";

const TAKING_WRITES: ReadonlySet<string> = new Set(["read-write", "primary"]);
