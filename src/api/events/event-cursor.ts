/** Cursors of the event feed: to clients, opaque text. */

/** Stands for the end of the feed at the time of the request. */
export const NOW = "now";

export function toCursor(number: number): string {
  return Buffer.from(`e${number}`).toString("base64url");
}

/** The number in a cursor; `undefined` for a text that is not one. */
export function parseCursor(text: string): number | undefined {
  const match = text.length <= MAX_LENGTH ? SHAPE.exec(Buffer.from(text, "base64url").toString()) : null;
  const number = Number(match?.[1]);
  return match && toCursor(number) === text ? number : undefined;
}

const SHAPE = /^e(0|[1-9]\d{0,15})$/;
const MAX_LENGTH = 32;
