/** Why the sender that a request names, or else its template, cannot be used: no sender of the account has that name. */
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
