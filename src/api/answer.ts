/**
 * A JSON answer. `to-response.ts` makes the `Response`, with all its headers at once: adding them later costs a microsecond
 * more.
 */
export interface Answer {
  readonly status: number;
  readonly json: string;
}

/** What endpoints return: an `Answer`, or a `Response` for anything but plain JSON. */
export type Answered = Answer | Response;
