/**
 * A JSON answer, of which `to-response.ts` makes a `Response`: one that is given all its headers at once costs a microsecond less
 * than one to which headers are added later.
 */
export interface Answer {
  readonly status: number;
  readonly json: string;
}

/** What endpoints answer with; a `Response` for anything but plain JSON. */
export type Answered = Answer | Response;
