import type { ChannelDeps } from "../../channels/channel.ts";
import type { Clock } from "../../core/clock.ts";
import { readSetting } from "../../core/records/settings.ts";
import type { Records } from "../../store/store.ts";

/** A change takes effect in every process within this time. */
const MAX_AGE_MS = 1_000;

/** The setting `public_url`, read at most once a second. */
export function createPublicUrl(
  records: Pick<Records, "settings">,
  clock: Clock,
): NonNullable<ChannelDeps["publicUrl"]> {
  let last: { readonly at: number; readonly value: Promise<string | undefined> } | undefined;
  const read = async () => readSetting(await records.settings(undefined), "public_url");
  return () => {
    const now = clock.monotonicMs();
    if (!last || now - last.at >= MAX_AGE_MS) {
      const reading = { at: now, value: read() };
      last = reading;
      reading.value.catch(() => {
        if (last === reading) last = undefined;
      });
    }
    return last.value;
  };
}
