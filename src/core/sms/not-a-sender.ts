import { bareHeader } from "../dlt/dlt-words.ts";

/** The problem to report if the account has no sender with the name that a request, or else its template, contains. */
export function notASender({
  from,
  templateFrom,
}: {
  readonly from: string | undefined;
  readonly templateFrom: string | undefined;
}): string | undefined {
  if (from !== undefined) return NOT_A_SENDER + insteadOf(from);
  if (templateFrom === undefined) return undefined;
  return `the template names ${templateFrom}, which ${NOT_A_SENDER}`;
}

const NOT_A_SENDER = "is not a registered sender of this account";

/** Who copies a sender from a handset in India copies more than was registered. */
function insteadOf(from: string): string {
  const bare = bareHeader(from);
  return bare === from ? "" : `: send the bare header ${bare}, operators add what stands round it`;
}
