import { isIP } from "node:net";

/** A host as the runtime takes it: without the brackets that URLs put around IPv6 addresses, and mail servers around any host. */
export function bareHost(host: string): string {
  return /^\[([^[\]]*)\]$/.exec(host)?.[1] ?? host;
}

/** What is wrong with a connector's `host`, under that name; empty where nothing is. */
export function hostProblem(host: unknown): Readonly<Record<string, string>> {
  if (typeof host !== "string") return {};
  const bare = bareHost(host);
  if (isIP(bare) !== 0 || /^[^\s:/[\]@?#]+$/.test(bare)) return {};
  return { host: "must be a name or an address alone, for example host.example.net or 2001:db8::1" };
}
