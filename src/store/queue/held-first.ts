/**
 * What a lost attempt had sent is an earlier copy, once the later attempt at the message has been noted. Of two messages with one
 * id, a parked receipt goes to the one that waits for it.
 */
export function heldFirst<Checked extends { readonly job: object | undefined }>(
  checked: readonly Checked[],
): readonly Checked[] {
  return [...checked.filter(({ job }) => job), ...checked.filter(({ job }) => !job)];
}
