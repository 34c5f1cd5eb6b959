/** The problem to report if the account has no sender with the name that a request, or else its template, contains. */
export function notASender({
  from,
  templateFrom,
}: {
  readonly from: string | undefined;
  readonly templateFrom: string | undefined;
}): string | undefined {
  if (from !== undefined) return "is not a registered sender of this account";
  if (templateFrom === undefined) return undefined;
  return `the template names ${templateFrom}, which is not a registered sender of this account`;
}
