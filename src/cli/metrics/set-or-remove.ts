import type { Gauge } from "@prometheus-io/client";

/** What is not known is absent: 0 would be an answer. */
export function setOrRemove(gauge: Gauge, value: number | undefined): void {
  if (value === undefined) gauge.remove();
  else gauge.set(value);
}
