import type { Clock } from "../clock.ts";

/** How long to wait for one family once the other has addresses: some name servers never answer for AAAA. */
const OTHER_FAMILY_MS = 1_000;

export interface FamilyQuestions<Answer> {
  /** The answers for IPv4 and for IPv6. Neither promise rejects. */
  readonly asked: readonly [Promise<Answer>, Promise<Answer>];
  readonly hasAddresses: (answer: Answer) => boolean;
  /** Used in place of an answer that does not come in time. */
  readonly none: Answer;
  readonly clock: Pick<Clock, "after">;
}

/** Resolves with the answers for both families, without a long wait for one that may never be answered. */
export function bothFamilies<Answer>(questions: FamilyQuestions<Answer>): Promise<[Answer, Answer]> {
  const [v4, v6] = questions.asked;
  return Promise.all([orNone(v4, v6, questions), orNone(v6, v4, questions)]);
}

function orNone<Answer>(
  answer: Promise<Answer>,
  other: Promise<Answer>,
  { hasAddresses, none, clock }: FamilyQuestions<Answer>,
): Promise<Answer> {
  return new Promise((resolve) => {
    let isAnswered = false;
    let cancel = () => {};
    void answer.then((own) => {
      isAnswered = true;
      cancel();
      resolve(own);
    });
    void other.then((found) => {
      if (!isAnswered && hasAddresses(found)) cancel = clock.after(OTHER_FAMILY_MS, () => resolve(none));
    });
  });
}
