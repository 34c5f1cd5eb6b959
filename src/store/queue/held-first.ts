/**
 * Settlements in the order in which they are recorded: first those whose lease still holds (they have a `job`), then those
 * whose lease was lost. So what a lost attempt sent becomes an earlier copy than that of the message's latest attempt, and if
 * two messages have the same provider id, a parked receipt goes to the one that still waits for it.
 */
export function heldFirst<Checked extends { readonly job: object | undefined }>(
  checked: readonly Checked[],
): readonly Checked[] {
  return [...checked.filter(({ job }) => job), ...checked.filter(({ job }) => !job)];
}
