/** `create`, `list`, `show`, `update` and `delete` (keys: `revoke`) of the nouns in the table. */
import { addMistakenVerb, addNoun, type CommandLine, type NounCommand, type Row } from "./command-line.ts";
import type { Noun } from "./nouns.ts";
import { addOptions, fieldsOf } from "./option-rows.ts";
import {
  addDelete,
  addReading,
  isNothing,
  nothingToChange,
  pathOf,
  pluralOf,
  printCreated,
  recordText,
  SEARCH,
  withClears,
} from "./record-verbs.ts";

export function addNounCommands(commandLine: CommandLine, noun: Noun): NounCommand {
  const command = addNoun(commandLine, noun.name, `manage ${pluralOf(noun)}`);
  addCreate(command, noun);
  addReading(command, { ...noun, filters: [...noun.filters, SEARCH] });
  addUpdate(command, noun);
  addRemoval(command, noun);
  return command;
}

function addCreate(command: NounCommand, noun: Noun): void {
  const verb = command.verb({
    usage: "create",
    summary: `create one ${noun.one}`,
    async work(run) {
      const record = (await run.client.request("POST", noun.name, {
        body: fieldsOf(noun.create, run.options),
      })) as Row;
      printCreated(run, noun, record);
    },
  });
  addOptions(verb, noun.create);
}

function addUpdate(command: NounCommand, noun: Noun): void {
  const verb = command.verb({
    usage: "update <id>",
    summary: `change one ${noun.one}; an empty value clears`,
    async work(run) {
      const body = withClears(fieldsOf(noun.update, run.options), noun.update);
      if (isNothing(body)) throw nothingToChange(joinWithOr(noun.update.map(({ flags }) => nameOf(flags))));
      run.print(await run.client.request("PATCH", pathOf(noun.name, run), { body }), (record) =>
        recordText(noun, record),
      );
    },
  });
  addOptions(verb, noun.update);
}

function addRemoval(command: NounCommand, noun: Noun): void {
  if (noun.name !== "keys") {
    addDelete(command, noun);
    return;
  }
  command.verb({
    usage: "revoke <id>",
    summary: "revoke one API key: requests with it are refused from then on",
    work: async (run) =>
      run.print(await run.client.request("POST", `${pathOf("keys", run)}/revoke`), (record) =>
        recordText(noun, record),
      ),
  });
  addMistakenVerb(command, "delete", "revoke");
}

/** `--name <name>` as `--name`. */
function nameOf(flags: string): string {
  return flags.split(" ")[0] ?? "";
}

/** `--one`, `--one or --two`, `--one, --two or --three`. */
function joinWithOr(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} or ${last}`;
}
