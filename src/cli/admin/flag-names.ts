/** Translates the fields of the API that a refusal names into the options that were typed. */
import type { Command, Option } from "commander";
import type { FieldProblem } from "../commands/report.ts";

/** An option that says which field of the API it sets. */
export interface FieldOption extends Option {
  field?: string;
}

/** The options that say where the server is and how to print the answer: they send no field. */
const NO_FIELDS: readonly (string | undefined)[] = ["--url", "--token", "--json"];

/** What is wrong with a field, as a problem of the command's option that set the field, or could have set it. */
export function namedAsOption(command: Command, field: string, reason: string): FieldProblem {
  const [head = "", ...inside] = field.split(".");
  if (head === "config" && inside.length > 0 && takesFields(command)) {
    const [name = "", ...deeper] = inside;
    const option = optionOf(name);
    if (isInJson(command, option)) return { name: whole("--config", inside), reason };
    if (deeper.length === 0) return { name: option, reason: ofKind(reason) };
    const isMap = isTypedAsObject(command, option);
    return { name: isMap ? `${option}, ${deeper.join(".")}` : whole(option, deeper), reason };
  }
  const option = command.options.find((each) => sets(each as FieldOption, head));
  return { name: option?.long ? whole(option.long, inside) : field, reason: ofPage(reason) };
}

function sets({ field, long }: FieldOption, name: string): boolean {
  if (field !== undefined) return field === name;
  return (
    !NO_FIELDS.includes(long) && (long === optionOf(name) || long === optionOf(name.replace(/_id$/, "")))
  );
}

/** Whether each field of a connector's kind is an option of the command. */
function takesFields(command: Command): boolean {
  return command.options.some(({ long }) => long === "--config");
}

/** Whether a field came in `--config`, or is missing from it: no option of its own was typed. */
function isInJson(command: Command, option: string): boolean {
  const isTyped = command.args.some((word) => word === option || word.startsWith(`${option}=`));
  return command.getOptionValue("config") !== undefined && !isTyped;
}

/** Whether the option got a JSON object: what is inside has names then, also if these are numbers. */
function isTypedAsObject({ args }: Command, option: string): boolean {
  const at = args.indexOf(option);
  const attached = args.find((word) => word.startsWith(`${option}=`))?.slice(option.length + 1);
  return (at < 0 ? attached : args[at + 1])?.trimStart().startsWith("{") ?? false;
}

/** `system_id` as `--system-id`. */
function optionOf(field: string): string {
  return `--${field.replaceAll("_", "-")}`;
}

/** @param inside which part of the value is meant: an entry of a list, from 0, or a field of an object */
function whole(option: string, inside: readonly string[]): string {
  const [first, ...rest] = inside;
  if (first === undefined) return option;
  const place = /^\d+$/.test(first) ? `value ${Number(first) + 1}` : first;
  // An entry that is an object was typed as one word.
  return place === first ? `${option}, ${[first, ...rest].join(".")}` : `${option}, ${place}`;
}

/** Where to find the cursor that continues a list after a page. */
export const PLACE_OF_CURSOR = "the cursor in its last line, `more: --after …` (with --json: `next`)";

/** Says where the command line shows the `next` of a page, which the API knows only as a field. */
function ofPage(reason: string): string {
  return reason.replace("the `next` of an earlier page", `of an earlier page: ${PLACE_OF_CURSOR}`);
}

/** The problem of a field that the kind does not have, with the names of those that it has. */
const UNKNOWN = /^(unknown; (?:known are|did you mean) )([a-z0-9_, ]+)(\??)$/;

function ofKind(reason: string): string {
  const [, words = "", names, end = ""] = UNKNOWN.exec(reason) ?? [];
  return names === undefined ? reason : words + names.split(", ").map(optionOf).join(", ") + end;
}
