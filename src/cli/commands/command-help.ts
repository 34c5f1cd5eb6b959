/** How `--help` shows the options of a command: its own first, and those that have to be given are marked. */
import { Help, type HelpConfiguration, type Option } from "commander";
import { isNeeded } from "./needed-options.ts";

/** Options that many commands have, in the order in which they are shown below the others. */
const SHARED = ["--json", "--url", "--token", "--api-key", "--help"];

export const COMMAND_HELP: HelpConfiguration = {
  visibleOptions(command) {
    const options = Help.prototype.visibleOptions.call(this, command);
    return options.toSorted((one, other) => placeOf(one) - placeOf(other));
  },
  optionDescription(option) {
    const text = Help.prototype.optionDescription.call(this, option).replace(" (default: false)", "");
    return isNeeded(option) ? `${text} (required)` : text;
  },
};

/** Negative for the command's own options, which keep their order. */
function placeOf({ long }: Option): number {
  return SHARED.indexOf(long ?? "");
}
