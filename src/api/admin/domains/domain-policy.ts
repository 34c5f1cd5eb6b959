import { readSetting } from "../../../core/records/settings.ts";
import { DAY_MS } from "../../../core/time/durations.ts";
import type { AdminDeps } from "../admin-deps.ts";

/** What the settings say of all domains. */
export interface DomainPolicy {
  readonly returnPathHost: string | undefined;
  readonly graceMs: number;
}

export async function readDomainPolicy({ store }: AdminDeps): Promise<DomainPolicy> {
  const stored = await store.records.settings(undefined);
  return {
    returnPathHost: readSetting(stored, "return_path_host"),
    graceMs: readSetting(stored, "domain_grace_days") * DAY_MS,
  };
}
