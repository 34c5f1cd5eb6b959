/** Forms of connectors: the fields depend on the kind, which the service describes. */
import type { Client, Page } from "../client.ts";
import { type Field, fieldsOf, labelOf, type Row, type Schema } from "../forms/fields.ts";
import { filterForm } from "../forms/filters.ts";
import { recordForm } from "../forms/form.ts";
import { watchOthers } from "../forms/overtaken.ts";
import { toHash } from "../place.ts";
import type { View, Visit } from "../visit.ts";
import type { Connector } from "./connector-state.ts";

interface Kind {
  readonly kind: string;
  readonly channel: string;
  readonly config: Schema;
  readonly secrets: readonly string[];
  readonly secret_descriptions: Readonly<Record<string, string>>;
}

const NAME: Field = {
  name: "name",
  label: "Name",
  kind: "text",
  isRequired: false,
  hint: "For people; by default its provider or kind",
};

/** `#/connectors/new?kind=smpp` */
export async function showNewConnector({ client, place, notify, leaveFor }: Visit): Promise<View> {
  const kinds = await readKinds(client);
  const kind = kinds.find(({ kind }) => kind === place.query.kind) ?? kinds[0];
  if (!kind) throw new Error("the service knows no kinds of connectors");
  const choice = filterForm(place, [
    {
      name: "kind",
      label: "Kind",
      choices: kinds.map(({ kind, channel }) => [kind, `${kind} (${channel})`]),
      otherwise: kind.kind,
    },
  ]);
  const { needed, rarely } = configFields(kind, {});
  const form = recordForm({
    fields: [NAME, ...needed],
    rarely,
    values: {},
    submit: "Create connector",
    back: "#/connectors",
    async save({ name, ...config }) {
      const made = await client.send<Connector>("POST", "connectors", { kind: kind.kind, name, config });
      leaveFor(toHash(["connectors", made.id]));
      notify(`${made.name}: created`);
    },
  });
  return { title: "New connector", content: [choice, form] };
}

/** `#/connectors/ID/edit`: a secret that is left empty stays as it is. */
export async function showEditConnector({ client, place, notify, leaveFor }: Visit): Promise<View> {
  const path = `connectors/${encodeURIComponent(place.path[1] ?? "")}`;
  const [kinds, connector] = await Promise.all([readKinds(client), client.get<Connector>(path)]);
  const kind = kinds.find(({ kind }) => kind === connector.kind);
  if (!kind) throw new Error(`the service does not know the kind ${connector.kind}`);
  const { needed, rarely } = configFields(kind, connector.secrets);
  const back = toHash(["connectors", connector.id]);
  const record = toRecord(connector);
  const tellOfOthers = watchOthers({ record, fields: [...needed, ...rarely] });
  const form = recordForm({
    fields: [NAME, ...needed],
    rarely,
    values: record,
    submit: "Save",
    back,
    async save(_, changes) {
      tellOfOthers(toRecord(await client.get<Connector>(path)), changes);
      const { name, ...config } = changes;
      const saved = await client.send<Connector>("PATCH", path, { name, config });
      leaveFor(back);
      notify(`${saved.name}: saved`);
    },
  });
  return { title: `Edit ${connector.name}`, content: form };
}

/** What its form holds; secrets are not shown. */
function toRecord({ name, config }: Connector): Row {
  return { ...config, name };
}

async function readKinds(client: Client): Promise<readonly Kind[]> {
  return (await client.get<Page<Kind>>("connector-kinds")).data;
}

/** What must be given and the secrets, and all that has a default. */
function configFields(kind: Kind, isSet: Connector["secrets"]) {
  const fields = fieldsOf(kind.config);
  const secrets = kind.secrets.map((name) =>
    secretField(name, kind.secret_descriptions[name], name in isSet),
  );
  return {
    needed: [...fields.filter(({ isRequired }) => isRequired), ...secrets],
    rarely: fields.filter(({ isRequired }) => !isRequired),
  };
}

function secretField(name: string, meaning: string | undefined, isSet: boolean): Field {
  const hint = [meaning, isSet && "It is set: leave this empty to keep it"].filter(Boolean).join(". ");
  return { name, label: labelOf(name), kind: "secret", isRequired: false, hint };
}
