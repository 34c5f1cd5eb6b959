/** A database URL that may name several hosts, as libpq reads it; `pg` itself knows one. */
export interface DatabaseHosts {
  /** One URL per host, in the order given. */
  readonly urls: readonly string[];
  /** Only a server that takes writes will do: because of `target_session_attrs`, or because there are several hosts. */
  readonly isToBeWritable: boolean;
  /** False if `prepare=false` was given: behind a pooler each transaction may run on another connection. */
  readonly isPrepared: boolean;
  /** Hosts and database, without any secret. */
  readonly place: string;
}

/**
 * Reads `postgres://user:password@a:5432,b:5433/name?target_session_attrs=read-write`. Throws where the URL is not of this
 * form, with a message for the operator that holds no secret.
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
  const settingOf = (name: string) => settings.find((each) => each.startsWith(name))?.slice(name.length);
  const target = settingOf(TARGET);
  if (target !== undefined && !TAKING_WRITES.has(target)) {
    throw new Error(`${TARGET}${target}: expected one of ${[...TAKING_WRITES].join(", ")}`);
  }
  const prepare = settingOf(PREPARE) ?? "true";
  if (!/^(true|false)$/.test(prepare)) throw new Error(`${PREPARE}${prepare}: expected true or false`);
  const rest = settings.filter((each) => !each.startsWith(TARGET) && !each.startsWith(PREPARE)).join("&");
  return {
    urls: hosts.map((host) => `${start}${host}${path}${rest && `?${rest}`}`),
    isToBeWritable: hosts.length > 1 || target !== undefined,
    isPrepared: prepare === "true",
    place: `${decodeURIComponent(authority)}${path}`,
  };
}

const TARGET = "target_session_attrs=";
const PREPARE = "prepare=";

const TAKING_WRITES: ReadonlySet<string> = new Set(["read-write", "primary"]);
