/** A database URL that may name several hosts, as libpq reads it; `pg` itself knows one. */
export interface DatabaseHosts {
  /** One URL per host, in the order given. */
  readonly urls: readonly string[];
  /** Whether only a server that takes writes will do: because of `target_session_attrs`, or because several hosts are given. */
  readonly isToBeWritable: boolean;
  /** False if `prepare=false` was given, as is needed behind a pooler that runs each transaction on another connection. */
  readonly isPrepared: boolean;
  /** Settings of the session, as in `options=-c%20search_path%3Dmail`. Absent from `urls`, in which they would displace ours. */
  readonly options?: string;
  /** What the operator calls our sessions. Absent from `urls` too: a rotation of the master key finds them by our own name. */
  readonly applicationName?: string;
  /** Hosts and database, without any secret. */
  readonly place: string;
}

/**
 * Reads `postgres://user:password@a:5432,b:5433/name?target_session_attrs=read-write`. If the URL does not have this form,
 * throws an error for the operator that holds no secret.
 */
export function readHosts(url: string): DatabaseHosts {
  const match = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/.exec(url);
  if (!match) throw new Error(`expected postgres://user:password@host:port/name; ${ESCAPED}`);
  const [, start = "", authority = "", path = "", query = ""] = match;
  const hosts = authority.split(",");
  const settings = query.split("&").filter((each) => each !== "");
  // If a password contains such a character unescaped, the rest of it is taken for something else: so the error shows nothing of the URL.
  const isCutWrong = path.includes("@") || settings.some((each) => /^[^=]*(@|$)/.test(each));
  if (isCutWrong || hosts.some((host) => !HOST.test(host) || (host === "" && hosts.length > 1)))
    throw new Error(`expected hosts with ports, separated by commas; ${ESCAPED}`);
  const settingOf = (name: string) => settings.find((each) => each.startsWith(name))?.slice(name.length);
  const target = settingOf(TARGET);
  if (target !== undefined && !TAKING_WRITES.has(target)) {
    throw new Error(`${TARGET}${target}: expected one of ${[...TAKING_WRITES].join(", ")}`);
  }
  const prepare = settingOf(PREPARE) ?? "true";
  if (!/^(true|false)$/.test(prepare)) throw new Error(`${PREPARE}${prepare}: expected true or false`);
  const isPrepared = prepare === "true";
  const options = isPrepared ? new URLSearchParams(query).get("options") : null;
  const applicationName = new URLSearchParams(query).get("application_name");
  const read = [TARGET, PREPARE, NAME, ...(isPrepared ? [OPTIONS] : [])];
  const rest = settings.filter((each) => !read.some((name) => each.startsWith(name))).join("&");
  return {
    urls: hosts.map((host) => `${start}${host}${path}${rest && `?${rest}`}`),
    isToBeWritable: hosts.length > 1 || target !== undefined,
    isPrepared,
    ...(options && { options }),
    ...(applicationName && { applicationName }),
    place: `${decodeURIComponent(authority)}${path}`,
  };
}

const HOST = /^(\[[0-9a-f:.]+\]|[^\s:[\]]*)(:\d{1,5})?$/i;
const ESCAPED = "in names and passwords, / ? # and @ are written %2F %3F %23 and %40";

const TARGET = "target_session_attrs=";
const PREPARE = "prepare=";
const OPTIONS = "options=";
const NAME = "application_name=";

const TAKING_WRITES: ReadonlySet<string> = new Set(["read-write", "primary"]);
