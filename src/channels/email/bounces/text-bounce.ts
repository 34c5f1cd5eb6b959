/** Reads bounces that are written for people only, as qmail and older Exim do. Pure. */
import { aliasesIn, codeOf, type DsnRecipient, stageOf } from "./dsn.ts";
import { decodedWords, type Entity, fromUtf8, header, mediaType, walk } from "./mime.ts";
import { plainAddress, wordsIn } from "./report-words.ts";

/**
 * `undefined` where the mail does not look like a bounce of a mail server.
 *
 * @param isFromNobody it came from the null sender
 */
export function readTextBounce(mail: Entity, isFromNobody: boolean): DsnRecipient | undefined {
  const failed = plainAddress(fromUtf8(header(mail, "x-failed-recipients")));
  const text = textOf(mail);
  const subject = decodedWords(header(mail, "subject"));
  if (DELAYED.test(subject)) return undefined;
  const isFromServer = isFromNobody || isFromDaemon(mail);
  if (!text.includes(QMAIL) && failed === "" && !(isFromServer && BOUNCE_SUBJECT.test(subject)))
    return undefined;
  const words = text.split(COPY_BELOW, 1)[0] ?? "";
  const code = codeOf("", words);
  // Without a reply code of a refusal it may be anything.
  if (failed === "" && !text.includes(QMAIL) && !/^(?:smtp\.)?5/.test(code ?? "")) return undefined;
  const recipient =
    /([^\s,<>@]{1,64}@[^\s,<>@]{1,255})/.exec(failed)?.[1] ??
    /^<([^\s<>@]{1,64}@[^\s<>@]{1,255})>:/m.exec(words)?.[1];
  const stage = stageOf(words);
  const reason = reasonIn(words);
  return {
    action: "failed",
    ...(code !== undefined && { code }),
    ...(recipient !== undefined && { recipient }),
    ...(aliasesIn(words).size > 0 && { isForwarded: true }),
    ...(reason !== undefined && { text: reason }),
    ...(stage && { stage }),
  };
}

const QMAIL = "This is the qmail-send program";
const DELAYED = /\bdelay(?:ed)?\b|\bwarning\b/i;
const COPY_BELOW = /^-{3,60} ?(?:Below this line is a copy|This is a copy of|Original message)|^-{5,}$/im;
const BOUNCE_SUBJECT =
  /undeliver|delivery (?:status notification|failure|failed|has failed)|mail delivery failed|returned mail|failure notice|non ?remis|unzustellbar/i;

/** Or from the null sender, by what a server on the way has noted (RFC 5321 §4.4). */
function isFromDaemon(mail: Entity): boolean {
  const isDaemon = /mailer-?daemon|postmaster@|mail delivery (?:sub)?system/i.test(header(mail, "from"));
  return isDaemon || header(mail, "return-path") === "<>";
}

function textOf(mail: Entity): string {
  for (const part of walk(mail)) {
    if (mediaType(part) === "text/plain") return wordsIn(part);
  }
  return "";
}

/** The line with the reply code on it, else the first after the address. */
function reasonIn(words: string): string | undefined {
  const lines = words.split(/\r?\n/).map((line) => line.trim());
  const coded = lines.find((line) => /(?:^|[^\d.])[45](?:\d\d[ -]|\.\d{1,3}\.\d{1,3})/.test(line));
  const named = lines.findIndex((line) => /^<?[^\s<>@]{1,64}@[^\s<>@]{1,255}>?:$/.test(line));
  return coded ?? (named === -1 ? undefined : lines[named + 1]);
}
