import { isErased } from "../../core/messages/erasure.ts";
import type { OptOutQuery, Store } from "../../store/store.ts";
import type { MaybePromise } from "../when-ready.ts";

/** The senders that each recipient of an account has opted out of, `undefined` for all; `undefined` if they are not held in memory. */
export type KnownOptOuts = ReadonlyMap<string, ReadonlySet<string | undefined>> | undefined;

/** The longest list that is held. A longer one, or one with an erased recipient, is queried for each request. */
const MAX_KNOWN = 200;

type Cached = (
  accountId: string,
  load: (accountId: string) => Promise<KnownOptOuts>,
) => MaybePromise<KnownOptOuts>;

/** Finds the recipients of a request who have opted out: for most accounts in memory, up to a second late. */
export function createOptOutLookup(
  { records, suppressions }: Pick<Store, "records" | "suppressions">,
  cached: Cached,
): (query: OptOutQuery) => MaybePromise<readonly string[]> {
  const load = async (accountId: string): Promise<KnownOptOuts> => {
    const list = await records.list("optOuts", { accountId }, { limit: MAX_KNOWN + 1 });
    if (list.length > MAX_KNOWN || list.some(({ recipient }) => isErased(recipient))) return undefined;
    const known = new Map<string, Set<string | undefined>>();
    for (const { sender, recipient } of list) known.set(recipient, new Set(known.get(recipient)).add(sender));
    return known;
  };
  const answer = (known: KnownOptOuts, query: OptOutQuery) =>
    known ? optedOutAmong(known, query) : suppressions.findOptedOut(query);
  const whenLoaded = async (loading: Promise<KnownOptOuts>, query: OptOutQuery) =>
    answer(await loading, query);
  return (query) => {
    const known = cached(query.accountId, load);
    return known instanceof Promise ? whenLoaded(known, query) : answer(known, query);
  };
}

const NOBODY: readonly string[] = [];

function optedOutAmong(known: NonNullable<KnownOptOuts>, { sender, to }: OptOutQuery): readonly string[] {
  if (known.size === 0) return NOBODY;
  return to.filter((number) => {
    const senders = known.get(number);
    return senders !== undefined && (sender === undefined || senders.has(sender) || senders.has(undefined));
  });
}
