import { isErased } from "../../core/messages/erasure.ts";
import type { OptOutQuery, Store } from "../../store/store.ts";
import type { MaybePromise } from "../when-ready.ts";

/** An account's opt-outs, as `sender recipient`, where the list is short and all can be read; else `undefined`. */
export type KnownOptOuts = ReadonlySet<string> | undefined;

/** A list that is longer, or names somebody who was erased, is asked for the recipients of each request. */
const MAX_KNOWN = 200;

type Cached = (
  accountId: string,
  load: (accountId: string) => Promise<KnownOptOuts>,
) => MaybePromise<KnownOptOuts>;

/** Who of a request's recipients has opted out: for most accounts without a read, up to a second late. */
export function createOptOutLookup(
  { records, inbound }: Pick<Store, "records" | "inbound">,
  cached: Cached,
): (query: OptOutQuery) => MaybePromise<readonly string[]> {
  const load = async (accountId: string): Promise<KnownOptOuts> => {
    const list = await records.list("optOuts", { accountId }, { limit: MAX_KNOWN + 1 });
    if (list.length > MAX_KNOWN || list.some(({ recipient }) => isErased(recipient))) return undefined;
    return new Set(list.map(({ sender = "", recipient }) => nameOf(sender, recipient)));
  };
  const outOf = (known: KnownOptOuts, query: OptOutQuery) =>
    known ? among(known, query) : inbound.optedOut(query);
  const whenLoaded = async (loading: Promise<KnownOptOuts>, query: OptOutQuery) =>
    outOf(await loading, query);
  return (query) => {
    const known = cached(query.accountId, load);
    return known instanceof Promise ? whenLoaded(known, query) : outOf(known, query);
  };
}

const NOBODY: readonly string[] = [];

function among(known: ReadonlySet<string>, { sender = "", to }: OptOutQuery): readonly string[] {
  if (known.size === 0) return NOBODY;
  return to.filter((number) => known.has(nameOf("", number)) || known.has(nameOf(sender, number)));
}

function nameOf(sender: string, recipient: string): string {
  return `${sender} ${recipient}`;
}
