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
    ["| Name | Default | May be | For | Meaning |", "|---|---|---|---|---|", ...rows].join("\n"),
  ]
    .join("\n\n")
    .concat("\n");
}

const INTRODUCTION = `Made from \`src/core/records/settings.ts\`.

\`settings get\` shows them as they are, \`settings set NAME VALUE\` changes one, \`settings set NAME\` puts it back to its default.
With \`--account ID\` they are those of one account, and go over the instance's. Those marked \`instance\` can be set only
there. A change is in effect within a second.`;
