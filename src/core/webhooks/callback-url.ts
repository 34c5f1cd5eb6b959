import { hasControls } from "../body/text-rules.ts";

/** Why webhooks cannot be asked for at this URL; `undefined` if they can. */
export function callbackProblem(text: string): string | undefined {
  if (!text.startsWith("https://")) return "must start with https://";
  // The URL parser drops tabs and line ends and reads `https:///host` and `\` as people did not mean them.
  if (hasControls(text) || !text.isWellFormed() || /^https:\/\/[/?#]|[ \\]/.test(text)) return NOT_A_URL;
  const url = URL.parse(text);
  if (!url) return NOT_A_URL;
  return url.username === "" && url.password === "" ? undefined : "must not hold a user name or password";
}

const NOT_A_URL = "must be a valid URL, for example https://example.com/hooks/delivery";
