import type { KeyOwner } from "../../core/records/api-key.ts";
import { readSetting, type SettingName, type StoredSettings } from "../../core/records/settings.ts";
import type { NamedLimit, RateLimit } from "./rate-limit.ts";

/** The rate limits of a caller: of its key and of its account, if settings set them. A burst is one second's worth. */
export function accountLimits({ keyId, account, settings }: KeyOwner): readonly NamedLimit[] {
  const perKey = rateOf(settings, "rate_limit_per_key");
  const perAccount = rateOf(settings, "rate_limit_per_account");
  if (perKey === 0 && perAccount === 0) return NONE;
  return [
    { key: `key ${keyId}`, limit: { rate: perKey, burst: perKey } },
    { key: `account ${account.id}`, limit: { rate: perAccount, burst: perAccount } },
  ].filter(({ limit }) => limit.rate > 0);
}

/** The limit for one client address that calls the push endpoints for one account; `undefined`: it is switched off. */
export function pushLimit(settings: StoredSettings): RateLimit | undefined {
  const rate = readSetting(settings, "push_rate_limit");
  return rate === 0 ? undefined : { rate, burst: readSetting(settings, "push_rate_burst") };
}

const NONE: readonly NamedLimit[] = [];

function rateOf(settings: StoredSettings, name: SettingName & `rate_limit_${string}`): number {
  return settings[name] === undefined ? 0 : readSetting(settings, name);
}
