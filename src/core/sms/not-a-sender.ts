/** Why the sender named by a request, or else by its template, cannot be used: the account has no such sender. */
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
