/**
 * Limits how many requests are answered in one turn of the event loop. To be called before answering a request whose body
 * may not have arrived. `undefined`: answer at once; otherwise answer when the promise resolves.
 */
export type AnswerPace = () => Promise<void> | undefined;

/**
 * The most answers in one turn. Answering a request whose body has not arrived closes its connection, and within that call
 * Bun's HTTP server sends the turn's next answer: about 2,300 nested answers (1,500 on a thread) overflow the stack and end
 * the process.
 */
const MAX_PER_TURN = 500;

export function createAnswerPace(): AnswerPace {
  const waiting: (() => void)[] = [];
  let given = 0;

  const turn = () => {
    const next = waiting.splice(0, MAX_PER_TURN);
    given = next.length;
    if (given > 0) setImmediate(turn);
    for (const go of next) go();
  };
  return () => {
    if (given === 0) setImmediate(turn);
    if (given === MAX_PER_TURN) return new Promise((resolve) => waiting.push(resolve));
    given++;
    return undefined;
  };
}
