/** The DNS as an argument. Answers and rejections (`code`: ENOTFOUND, ENODATA, ETIMEOUT …) are those of `node:dns/promises`. */
export interface Dns {
  /** A record is the strings it is made of. */
  resolveTxt(name: string): Promise<readonly (readonly string[])[]>;
  resolveMx(name: string): Promise<readonly MxRecord[]>;
  resolveCname(name: string): Promise<readonly string[]>;
  resolve4(name: string): Promise<readonly string[]>;
  resolve6(name: string): Promise<readonly string[]>;
}

export interface MxRecord {
  /** Empty: a null MX (RFC 7505). */
  readonly exchange: string;
  /** Lower comes first. */
  readonly priority: number;
}

/** True where the DNS has answered that there is no such record, as opposed to no answer. */
export function isNoRecord(error: unknown): boolean {
  return ["ENOTFOUND", "ENODATA"].includes(dnsCode(error));
}

export function dnsCode(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? "no answer");
}
