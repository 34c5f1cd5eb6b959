import type { Gauge } from "@prometheus-io/client";

/** Sets the gauge. Removes it for an unknown value, since 0 would look like a measurement. */
export function setOrRemove(gauge: Gauge, value: number | undefined): void {
  if (value === undefined) gauge.remove();
  else gauge.set(value);
}
