/** Accounts, keys and what they need, made through the API, and the ids of what has been made since. */
import type { Chance } from "./chance.ts";
import { createHints } from "./hints.ts";
import { type Callback, type Made, makeGateways, makeLive, unsubscribeToken } from "./made-beforehand.ts";
import type { ServiceUnderTest } from "./under-test.ts";
import type { Hint } from "./values.ts";

export interface Caller {
  readonly accountId: string;
  readonly key: string;
}

export interface World {
  readonly url: string;
  readonly adminToken: string;
  readonly callers: readonly Caller[];
  /** Notes an id from an answer under the path where it is found; `owner`: whose message it is. */
  remember(path: string, id: string, owner?: Caller): void;
  ownerOf(id: string): Caller | undefined;
  /** Paths of providers' callbacks, and a token of a link to unsubscribe. */
  readonly callbacks: readonly Callback[];
  readonly unsubscribeToken: string;
  /** One of the noted ids, or `undefined` if there is none yet. */
  idOf(path: string, chance: Chance): string | undefined;
  /** True for what was made at the beginning and is needed to the end. */
  isKept(id: string): boolean;
  /** Values for fields by name, for a request of the caller. */
  hints(caller: Caller, operation: string): Hint;
}

/** How many ids per path are kept: the latest. */
const MEMORY = 30;

type Shelves = Pick<World, "remember" | "idOf" | "ownerOf">;

function createShelves(): Shelves {
  const ids = new Map<string, string[]>();
  const owners = new Map<string, Caller>();
  return {
    remember(path, id, owner) {
      const known = ids.get(path) ?? [];
      ids.set(path, known);
      if (known.length >= MEMORY) owners.delete(known.shift() ?? "");
      if (!known.includes(id)) known.push(id);
      if (owner) owners.set(id, owner);
    },
    idOf(path, chance) {
      const known = ids.get(path);
      return known && chance.pick(known);
    },
    ownerOf: (id) => owners.get(id),
  };
}

export async function createWorld({ service }: Pick<ServiceUnderTest, "service">): Promise<World> {
  const { url, sandbox } = service;
  const shelves = createShelves();
  const kept = new Set<string>();
  const make = async (path: string, body: object, method = "POST"): Promise<Made> => {
    const response = await fetch(`${url}/admin/v1/${path}`, {
      method,
      headers: { Authorization: `Bearer ${sandbox.admin_token}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const made = (await response.json()) as Made;
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(made)}`);
    if (method === "POST") shelves.remember(`/admin/v1/${path}`, made.id);
    kept.add(made.id);
    return made;
  };
  // Nothing answers there: the machine's resolver must not be asked.
  await make("settings/dns_servers", { value: "127.0.0.1:9" }, "PUT");
  const live = await makeLive(make);
  const callers = [{ accountId: sandbox.account_id, key: sandbox.api_key }, live];
  await make("push-apps", { account_id: live.accountId, name: "Live" });
  await make("inbound-numbers", { account_id: sandbox.account_id, number: "56161" });
  return {
    url,
    adminToken: sandbox.admin_token,
    callers,
    ...shelves,
    callbacks: await makeGateways(make),
    unsubscribeToken: await unsubscribeToken(service, make),
    isKept: (id) => kept.has(id),
    hints: (caller, operation) =>
      createHints({ caller, operation, callers, ...shelves, appId: sandbox.push_app_id }),
  };
}
