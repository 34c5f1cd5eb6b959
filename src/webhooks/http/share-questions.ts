/**
 * Lets attempts that ask for the same name at the same time share one question: a thousand webhooks to one host begin
 * together. Nothing is remembered, and each attempt judges the answer for itself.
 */
export function shareQuestions<Answer>(
  ask: (name: string) => Promise<Answer>,
): (name: string) => Promise<Answer> {
  /** Questions under way: at most one per attempt. */
  const underWay = new Map<string, Promise<Answer>>();
  return (name) => {
    const asked = underWay.get(name);
    if (asked) return asked;
    const answer = ask(name).finally(() => underWay.delete(name));
    underWay.set(name, answer);
    return answer;
  };
}
