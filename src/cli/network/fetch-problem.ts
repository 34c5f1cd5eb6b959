import { errorText } from "../../core/error-text.ts";

/** Of these Bun says what a programmer could do about them. */
const WORDS: Readonly<Record<string, string>> = {
  ConnectionRefused: "nothing listens there",
  ECONNREFUSED: "nothing listens there",
  Malformed_HTTP_Response: "what answers there does not speak HTTP",
};

/** Why `fetch` has got no answer, in words for operators. */
export function fetchProblem(error: unknown): string {
  const { code = "" } = error as { code?: string };
  return WORDS[code] ?? errorText(error);
}
