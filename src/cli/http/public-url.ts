import type { ChannelDeps } from "../../channels/channel.ts";
import type { Clock } from "../../core/clock.ts";
import { readSetting } from "../../core/records/settings.ts";
import { createFreshCache } from "../../core/work/fresh-cache.ts";
import type { Records } from "../../store/store.ts";

/** The setting `public_url`, read at most once a second. */
export function createPublicUrl(records: Pick<Records, "settings">, clock: Clock): ChannelDeps["publicUrl"] {
  const cache = createFreshCache<string | undefined>({ clock, maxEntries: 1 });
  const read = async () => readSetting(await records.settings(undefined), "public_url");
  return async () => cache.get("", read);
}
