import type { Setting } from "../src/core/records/settings.ts";

/** A page with a table of all settings. */
export function settingsPage(settings: Readonly<Record<string, Setting<unknown>>>): string {
  const rows = Object.entries(settings).map(
    ([name, { default: byDefault, expected, scope, description }]) =>
      `| \`${name}\` | ${byDefault === undefined ? "unset" : `\`${byDefault}\``} | ${expected} | ${scope} | ${description} |`,
  );
  return [
    "# Settings",
    INTRODUCTION,
    ["| Name | Default | Value | Level | Meaning |", "|---|---|---|---|---|", ...rows].join("\n"),
  ]
    .join("\n\n")
    .concat("\n");
}

const INTRODUCTION = `Generated from \`src/core/records/settings.ts\`.

\`settings get\` shows the current values, \`settings set NAME VALUE\` changes one, \`settings set NAME\` resets it to its default.
With \`--account ID\` these commands work on the settings of one account, which override those of the instance. Settings marked
\`instance\` exist only for the instance. A change takes effect within a second.`;
