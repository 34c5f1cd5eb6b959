import type { Command } from "commander";
import type { ConnectorHealth } from "../../core/alarms/connector-health.ts";
import { connectorTrouble } from "../../core/alarms/connector-trouble.ts";
import { present } from "../../core/present.ts";
import { UsageFailure } from "../commands/command-failure.ts";
import { readValue } from "../commands/input-file.ts";
import { needed } from "../commands/needed-options.ts";
import { toCell } from "../commands/table.ts";
import type { AdminClient } from "./admin-client.ts";
import {
  addNoun,
  type Column,
  type CommandLine,
  column,
  type NounCommand,
  type Row,
  type Run,
} from "./command-line.ts";
import { type FieldSchema, readFreeOptions, readJsonObject } from "./free-options.ts";
import type { Noun } from "./nouns.ts";
import {
  addDelete,
  addReading,
  type CreatedNoun,
  isNothing,
  nothingToChange,
  pathOf,
  printCreated,
  recordText,
  SEARCH,
  withClears,
} from "./record-verbs.ts";

const CONNECTORS: CreatedNoun & Pick<Noun, "name" | "columns" | "filters"> = {
  name: "connectors",
  one: "connector",
  columns: [
    column("ID", "id"),
    column("NAME", "name"),
    column("KIND", "kind"),
    { head: "HOST", of: ({ config }: Row) => hostOf(config as Row | undefined) },
    column("ON", "is_enabled"),
    { head: "STATE", of: (row: Row) => (row.status as Row | undefined)?.state },
    { head: "REASON", of: (row: Row) => reasonOf(row.status as ShownStatus | undefined) },
  ],
  filters: [SEARCH],
};

interface ShownStatus {
  readonly reason?: string;
  readonly rate?: { readonly per_second: number };
  readonly health?: ConnectorHealth;
}

/** Why it is down or only partly up; else what slows it down. */
function reasonOf({ reason, rate, health }: ShownStatus = {}): string | undefined {
  return reason ?? connectorTrouble({ health, perSecond: rate?.per_second });
}

export function addConnectorCommands(commandLine: CommandLine): void {
  const noun = addNoun(commandLine, "connectors", "manage connectors");
  addCreate(noun);
  addReading(noun, CONNECTORS);
  addUpdate(noun);
  addDelete(noun, CONNECTORS);
  addTest(noun);
  addKinds(noun);
}

/** The host; the provider's name if the connection is over HTTP, where the host is the provider's own. */
function hostOf(config: Row | undefined): unknown {
  return config?.host ?? config?.provider;
}

function addCreate(noun: NounCommand): void {
  const verb = noun.verb({
    usage: "create",
    summary: "create one connector; each field of its kind is an option: --host, --system-id …",
    async work(run) {
      const { kind: wanted, name, enabled } = run.options;
      const kind = await kindNamed(run.client, String(wanted));
      const body = {
        kind: kind.kind,
        name,
        config: await readConfig(run, kind, run.args),
        is_enabled: enabled,
      };
      printCreated(run, CONNECTORS, (await run.client.request("POST", "connectors", { body })) as Row);
    },
  });
  verb.addOption(needed("--kind <kind>", "smpp, smtp …; `connectors kinds` lists them with their fields"));
  addSharedOptions(verb);
}

function addUpdate(noun: NounCommand): void {
  const verb = noun.verb({
    usage: "update <id>",
    summary: "change one connector; an empty value clears",
    async work(run) {
      const { name, enabled } = run.options;
      if (run.args[0]?.startsWith("-"))
        throw new UsageFailure("name the connector first: update <id> --host …");
      const current = (await run.client.request("GET", pathOf("connectors", run))) as Row;
      const kind = await kindNamed(run.client, String(current.kind));
      const config = withClears(await readConfig(run, kind, run.args.slice(1)));
      if (isNothing({ ...config, name, enabled })) throw nothingToChange(changesOf(kind));
      const body = { name, config, is_enabled: enabled };
      run.print(await run.client.request("PATCH", pathOf("connectors", run), { body }), (record) =>
        recordText(CONNECTORS, record),
      );
    },
  });
  addSharedOptions(verb);
}

function changesOf({ kind }: Kind): string {
  return `--name, --enabled, --no-enabled, --config or a field of its kind; \`connectors kinds ${kind}\` lists them`;
}

function addSharedOptions(verb: Command): void {
  verb
    .option("--name <name>", "a name for people; by default its provider or kind")
    .option("--config <json>", CONFIG_MEANING)
    .option("--enabled", "let it take messages (the default)")
    .option("--no-enabled", "let it take no messages")
    .allowUnknownOption()
    .allowExcessArguments();
}

const CONFIG_MEANING =
  "fields as a JSON object, secrets among them, `-`: from standard input; other options override it";

async function readConfig(run: Run, kind: Kind, words: readonly string[]): Promise<Row> {
  const { config } = run.options;
  const json = typeof config === "string" ? readJsonObject(await readValue(config), "--config") : {};
  return { ...json, ...readFreeOptions(words, kind) };
}

interface Kind {
  readonly kind: string;
  readonly channel: string;
  readonly config: {
    readonly properties?: Readonly<Record<string, FieldSchema>>;
    readonly required?: readonly string[];
  };
  readonly secrets: readonly string[];
  readonly secret_descriptions: Readonly<Record<string, string>>;
}

async function kindsOf(client: AdminClient): Promise<readonly Kind[]> {
  return ((await client.request("GET", "connector-kinds")) as { data: readonly Kind[] }).data;
}

async function kindNamed(client: AdminClient, name: string): Promise<Kind> {
  const kinds = await kindsOf(client);
  const kind = kinds.find((each) => each.kind === name);
  if (kind) return kind;
  throw new UsageFailure(
    `there is no kind "${name}": there are ${kinds.map((each) => each.kind).join(", ")}`,
  );
}

function addTest(noun: NounCommand): void {
  const verb = noun.verb({
    usage: "test <id>",
    summary:
      "connect, log in and disconnect; sends nothing. With fields, as in `update`: with these, and stores nothing",
    async work(run) {
      const query = typeof run.options.domain === "string" ? { domain: run.options.domain } : {};
      const body = await readTried(run);
      const request = { query, ...present({ body }) };
      const result = await run.client.request("POST", `${pathOf("connectors", run)}/test`, request);
      run.print(result, ({ ok, detail }: Row) => `${ok ? "ok" : "failed"}: ${toCell(detail)}\n`);
      if (!(result as Row).ok) run.fail();
    },
  });
  verb
    .option("--domain <domain>", "mx: whose mail hosts are tried; else gmail.com")
    .option("--config <json>", CONFIG_MEANING)
    .allowUnknownOption()
    .allowExcessArguments();
}

/** The fields to try; `undefined`: none were given. */
async function readTried(run: Run): Promise<Row | undefined> {
  const [id = "", ...words] = run.args;
  if (id.startsWith("-")) throw new UsageFailure("name the connector first: test <id> --password …");
  if (words.length === 0 && run.options.config === undefined) return undefined;
  const current = (await run.client.request("GET", pathOf("connectors", run))) as Row;
  return {
    config: withClears(await readConfig(run, await kindNamed(run.client, String(current.kind)), words)),
  };
}

const FIELD_COLUMNS: readonly Column[] = [
  { head: "OPTION", of: (row) => `--${String(row.name).replaceAll("_", "-")}` },
  column("TYPE", "type"),
  column("DEFAULT", "default"),
  column("MEANING", "meaning"),
];

function addKinds(noun: NounCommand): void {
  noun.verb({
    usage: "kinds [kind]",
    summary: "list the kinds of connectors, or the fields of one",
    async work(run) {
      const [name] = run.args;
      const columns = [column("KIND", "kind"), column("CHANNEL", "channel")];
      if (name === undefined) {
        run.printRows(columns, { data: await kindsOf(run.client) });
        return;
      }
      const kind = await kindNamed(run.client, name);
      run.printRows(FIELD_COLUMNS, { data: fieldsOf(kind) }, kind);
    },
  });
}

function fieldsOf({ config, secrets, secret_descriptions: meanings }: Kind): readonly Row[] {
  const fields = Object.entries(config.properties ?? {}).map(([name, field]) => {
    const choices = choicesOf(field);
    return {
      name,
      type: choices ? "choice" : field.type,
      default: defaultOf(field) ?? (config.required?.includes(name) ? "required" : undefined),
      meaning: choices ? `${field.description} (${choices.join(", ")})` : field.description,
    };
  });
  return [...fields, ...secrets.map((name) => ({ name, type: "secret", meaning: meanings[name] }))];
}

function defaultOf(field: FieldSchema): string | undefined {
  return "default" in field ? JSON.stringify(field.default) : undefined;
}

/** The values that the field may have; `undefined` if it may have any of its type. */
function choicesOf({ anyOf, enum: words }: FieldSchema): readonly unknown[] | undefined {
  const choices = words ?? anyOf?.map((one) => one.const);
  return choices?.every((one) => one !== undefined) ? choices : undefined;
}
