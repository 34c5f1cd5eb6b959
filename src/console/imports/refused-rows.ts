import { copyButton } from "../dom/dialogs.ts";
import { type Child, h } from "../dom/dom.ts";
import { none, section, table } from "../dom/pieces.ts";
import { rowText } from "./text-file.ts";

export interface RefusedRow {
  readonly line: number;
  readonly reason: string;
}

const MOST_ROWS = 100;

/** The rows of a file that were not taken, with what there is to be mended. */
export function refusedRows(refused: readonly RefusedRow[], text: string): Child {
  if (refused.length === 0) return undefined;
  const lines = text.split("\n");
  const shown = refused.slice(0, MOST_ROWS);
  const all = () =>
    refused.map(({ line, reason }) => [line, reason, rowText(lines, line)].join("\t")).join("\n");
  return section(
    `Refused rows (${refused.length.toLocaleString("en")})`,
    none("Mend these lines of the file and import it again: what is there already stays as it is."),
    table<RefusedRow>(
      "Refused rows",
      [
        { head: "Line", kind: "number", of: ({ line }) => line },
        { head: "Reason", kind: "wide", of: ({ reason }) => reason },
        { head: "Row", kind: "wide", of: ({ line }) => h("code", {}, rowText(lines, line)) },
      ],
      shown,
    ),
    h(
      "p",
      { class: "links" },
      copyButton(all, "Copy all refused rows"),
      refused.length > shown.length &&
        h("span", { class: "hint" }, `${shown.length} of ${refused.length.toLocaleString("en")} are shown`),
    ),
  );
}
