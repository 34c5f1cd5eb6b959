/**
 * Call it before an answer to a request whose body may not have arrived; `undefined`: answer now. Otherwise answer when the
 * promise resolves.
 */
export type AnswerPace = () => Promise<void> | undefined;

/**
 * Answers in one turn of the event loop. To answer a request whose body is still on its way closes the connection, and the
 * HTTP server gives the turn's next answer within that: about 2,300 of them, on a thread 1,500, fill the stack, and the
 * process ends.
 */
const MOST = 500;

export function createAnswerPace(): AnswerPace {
  const waiting: (() => void)[] = [];
  let given = 0;

  const turn = () => {
    const next = waiting.splice(0, MOST);
    given = next.length;
    if (given > 0) setImmediate(turn);
    for (const go of next) go();
  };
  return () => {
    if (given === 0) setImmediate(turn);
    if (given === MOST) return new Promise((resolve) => waiting.push(resolve));
    given++;
    return undefined;
  };
}
