/** How many rows one write looks at: a busy connector receives 50,000 messages in the time in which they may be repeated. */
export const PIECE = 1_000;

/** Walks through rows in pieces, each in a commit of its own. `end` takes the place where a piece begins, and resolves with that of the next. */
export async function inPieces<Place>(
  first: Place,
  end: (from: Place) => Promise<Place | undefined>,
): Promise<void> {
  for (let from: Place | undefined = first; from !== undefined; ) from = await end(from);
}
