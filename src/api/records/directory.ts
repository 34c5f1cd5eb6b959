import { type Domain, senderDomain } from "../../core/domains/domain.ts";
import { eachRecord } from "../../core/lists/each-record.ts";
import type {
  Account,
  Connector,
  DltEntity,
  PushApp,
  RecordTypes,
  Route,
  Sender,
  SmsTemplate,
} from "../../core/records/accounts.ts";
import { withConditionKeys } from "../../core/records/routes.ts";
import type { StoredSettings } from "../../core/records/settings.ts";
import { type SmsSegments, segmentSms } from "../../core/sms/sms-segments.ts";
import { createFreshCache, type FreshCache } from "../../core/work/fresh-cache.ts";
import type { OptOutQuery, Records } from "../../store/store.ts";
import type { HandlerDeps } from "../app-deps.ts";
import type { MaybePromise } from "../when-ready.ts";
import { createOptOutLookup, type KnownOptOuts } from "./opt-out-lookup.ts";

/** The records that requests need, in a cache. Changes to them take effect within a second, or at once after `forget`. */
export interface Directory {
  template(accountId: string, id: string): MaybePromise<SmsTemplate | undefined>;
  /** If several templates have the DLT id, the oldest of them. */
  templateByDltId(accountId: string, dltTemplateId: string): MaybePromise<SmsTemplate | undefined>;
  senders(accountId: string): MaybePromise<readonly Sender[]>;
  dltEntities(accountId: string): MaybePromise<readonly DltEntity[]>;
  /** The ids of the connectors whose provider renders texts by template id, so that the account needs no template. */
  templateRenderers(): MaybePromise<ReadonlySet<string>>;
  /** `domain`: in lower case; an international domain in either spelling. */
  domain(accountId: string, domain: string): MaybePromise<Domain | undefined>;
  routes(): MaybePromise<readonly Route[]>;
  connector(id: string): MaybePromise<Connector | undefined>;
  /** How the connector would divide a text into segments; without a connector, as most of them would. */
  segments(connector: Connector | undefined, text: string): SmsSegments;
  /** Which numbers of `to` have opted out. */
  optedOut(query: OptOutQuery): MaybePromise<readonly string[]>;
  account(id: string): MaybePromise<Account | undefined>;
  pushApp(accountId: string, id: string): MaybePromise<PushApp | undefined>;
  /** The settings that are set: the instance's, overridden by the account's if one is given. Defaults are left out. */
  settings(accountId: string | undefined): MaybePromise<StoredSettings>;
  /** Empties the cache. To be called after a change. */
  forget(): void;
}

const MAX_ENTRIES = 10_000;
/** The most records that are read of one list: in a longer one, the newest are ignored. */
const MAX_LISTED = 10_000;
const PAGE = 1000;

export function createDirectory(deps: Pick<HandlerDeps, "store" | "clock" | "connectorKinds">): Directory {
  const { store, clock } = deps;
  const { records } = store;
  const caches: Pick<FreshCache<unknown>, "forget">[] = [];
  const cache = <Value>(maxEntries = MAX_ENTRIES): FreshCache<Value> => {
    const made = createFreshCache<Value>({ clock, maxEntries });
    caches.push(made);
    return made;
  };
  const templates = cache<SmsTemplate | undefined>();
  const senders = cache<readonly Sender[]>(1000);
  const entities = cache<readonly DltEntity[]>(1000);
  const renderers = cache<ReadonlySet<string>>(1);
  const domains = cache<Domain | undefined>();
  const routes = cache<readonly Route[]>(1);
  const connectors = cache<Connector | undefined>();
  const accounts = cache<Account | undefined>();
  const optOuts = cache<KnownOptOuts>(1000);
  const pushApps = cache<PushApp | undefined>();
  const settings = cache<StoredSettings>();

  return {
    template: (accountId, id) =>
      templates.get(`${accountId} ${id}`, () => records.find("smsTemplates", { accountId, id })),
    templateByDltId: (accountId, dltTemplateId) =>
      templates.get(`${accountId} dlt ${dltTemplateId}`, () =>
        records.find("smsTemplates", { accountId, dltTemplateId }),
      ),
    senders: (accountId) => senders.get(accountId, () => listAll(records, "senders", { accountId })),
    dltEntities: (accountId) => entities.get(accountId, () => listAll(records, "dltEntities", { accountId })),
    templateRenderers: () => renderers.get("", () => listTemplateRenderers(deps)),
    domain: (accountId, domain) =>
      domains.get(`${accountId} ${domain}`, () => findDomain(records, { accountId, domain })),
    connector: (id) => connectors.get(id, () => records.find("connectors", { id })),
    segments: (connector, text) => segmentsOver(deps, connector, text),
    routes: () => routes.get("", async () => (await listAll(records, "routes", {})).map(withConditionKeys)),
    optedOut: createOptOutLookup(store, (accountId, load) => optOuts.get(accountId, load)),
    account: (id) => accounts.get(id, () => records.find("accounts", { id })),
    pushApp: (accountId, id) =>
      pushApps.get(`${accountId} ${id}`, () => records.find("pushApps", { accountId, id })),
    settings: (accountId) =>
      settings.get(accountId ?? "", async () => ({
        ...(await records.settings(undefined)),
        ...(accountId !== undefined && (await records.settings(accountId))),
      })),
    forget() {
      for (const each of caches) each.forget();
    },
  };
}

async function findDomain(
  records: Records,
  where: Pick<Domain, "accountId" | "domain">,
): Promise<Domain | undefined> {
  return senderDomain(await records.list("domains", where, { limit: PAGE }));
}

async function listTemplateRenderers({
  store,
  connectorKinds = [],
}: Pick<HandlerDeps, "store" | "connectorKinds">): Promise<ReadonlySet<string>> {
  const connectors = await listAll(store.records, "connectors", {});
  const rendering = connectors.filter((connector) =>
    connectorKinds.find(({ kind }) => kind === connector.kind)?.rendersTemplates?.(connector),
  );
  return new Set(rendering.map(({ id }) => id));
}

function segmentsOver(
  { connectorKinds = [] }: Pick<HandlerDeps, "connectorKinds">,
  connector: Connector | undefined,
  text: string,
): SmsSegments {
  const kind = connectorKinds.find((each) => each.kind === connector?.kind);
  return (connector && kind?.segments?.(connector, text)) ?? segmentSms(text);
}

async function listAll<K extends "senders" | "routes" | "dltEntities" | "connectors">(
  records: Records,
  kind: K,
  where: Partial<RecordTypes[K]>,
): Promise<readonly RecordTypes[K][]> {
  const all: RecordTypes[K][] = [];
  for await (const record of eachRecord((page) => records.list(kind, where, page))) {
    if (all.push(record) === MAX_LISTED) break;
  }
  return all;
}
