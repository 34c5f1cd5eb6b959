/**
 * Lets attempts that look up the same name at the same time share one lookup: a thousand webhooks to one host begin
 * together. Nothing is remembered, and each attempt judges the answer for itself.
 */
export function shareLookups<Answer>(
  lookUp: (name: string) => Promise<Answer>,
): (name: string) => Promise<Answer> {
  /** Has at most one entry per attempt. */
  const underWay = new Map<string, Promise<Answer>>();
  return (name) => {
    const shared = underWay.get(name);
    if (shared) return shared;
    const answer = lookUp(name).finally(() => underWay.delete(name));
    underWay.set(name, answer);
    return answer;
  };
}
