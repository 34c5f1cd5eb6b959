import { MAX_INTERRUPTIONS, type RetryPolicy } from "../src/core/queue/retry-policy.ts";

/** A section with a row for each channel: how long it waits before each retry, and when it gives up. */
export function retriesSection(policies: Readonly<Record<string, RetryPolicy>>): string {
  const rows = Object.entries(policies).map(
    ([channel, policy]) => `| ${channel} | ${waits(policy)} | ${limit(policy)} |`,
  );
  const table = ["| Channel | Waits before the next attempt | Given up |", "|---|---|---|", ...rows];
  return `## Retries

Generated from \`src/core/queue/retry-policy.ts\`. Each wait varies by up to 10 %. A provider that asks for a longer wait
gets it. What never reached the wire, or was throttled, is retried sooner and does not count as an attempt.
An attempt that was interrupted, since its process died, is repeated at once, or held (\`on_unconfirmed\`). After ${MAX_INTERRUPTIONS} such
attempts the message is held in any case.

${table.join("\n")}
`;
}

function waits({ waitsMs }: RetryPolicy): string {
  const all = waitsMs.map(duration);
  return [...all.slice(0, -1), `then ${all.at(-1)} each time`].join(", ");
}

function limit({ maxAttempts }: RetryPolicy): string {
  const end = "when its delivery window ends";
  return maxAttempts === undefined ? end : `after ${maxAttempts} attempts, or ${end}`;
}

const UNITS = [
  { ms: 3_600_000, name: "h" },
  { ms: 60_000, name: "min" },
  { ms: 1_000, name: "s" },
] as const;

function duration(ms: number): string {
  const unit = UNITS.find((one) => ms % one.ms === 0);
  return unit ? `${ms / unit.ms} ${unit.name}` : `${ms} ms`;
}
