/** The kinds of settings. Each parses a text, and can say which texts it accepts. */
import { callbackProblem } from "../webhooks/callback-url.ts";

export interface Setting<Value> {
  readonly default: Value;
  /** `account`: for an account, or for the instance as the default of all accounts. `instance`: for the instance only. */
  readonly scope: "instance" | "account";
  /** The permitted values, in words: `one of replay, strict`. */
  readonly expected: string;
  readonly description: string;
  /** Sealed at rest, and never shown. */
  readonly isSecret?: true;
  /** The value that the text stands for; `undefined` if the text is not permitted. */
  parse(text: string): Value | undefined;
}

interface Description {
  readonly description: string;
  readonly scope?: "instance" | "account";
}

/** The first word is the default. */
export function choice<const Word extends string>(
  words: readonly [Word, ...Word[]],
  { description, scope = "account" }: Description,
): Setting<Word> {
  return {
    default: words[0],
    scope,
    description,
    expected: `one of ${words.join(", ")}`,
    parse: (given) => words.find((word) => word === given),
  };
}

export function integer(
  byDefault: number,
  { min, max, description, scope = "account" }: Description & { min: number; max: number },
): Setting<number> {
  return {
    default: byDefault,
    scope,
    description,
    expected: `an integer from ${min} to ${max}`,
    parse(given) {
      const value = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
  };
}

export function flag(byDefault: boolean, { description, scope = "account" }: Description): Setting<boolean> {
  return {
    default: byDefault,
    scope,
    description,
    expected: "true or false",
    parse: (given) => (given === "true" ? true : given === "false" ? false : undefined),
  };
}

/** A list of words separated by commas, with at least one. */
export function words(byDefault: string, { description, scope = "account" }: Description): Setting<string> {
  const isWord = (word: string) => word.trim() !== "" && word.length <= 40;
  return {
    default: byDefault,
    scope,
    description,
    expected: "words of at most 40 characters, separated by commas",
    parse: (given) => (given.length <= 1_000 && given.split(",").every(isWord) ? given : undefined),
  };
}

/** A part of the day, up to its end but without it. */
export function hours(byDefault: string, { description, scope = "account" }: Description): Setting<string> {
  return {
    default: byDefault,
    scope,
    description,
    expected: "two times of a day, the earlier first, for example 10:00-21:00",
    parse(given) {
      const [, opens = "", closes = ""] =
        /^((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d|24:00)$/.exec(given) ?? [];
      return opens < closes ? given : undefined;
    },
  };
}

/** Text without a default. */
export function text(
  pattern: Pick<RegExp, "test">,
  { expected, description, scope = "account" }: Description & { expected: string },
): Setting<string | undefined> {
  return {
    default: undefined,
    scope,
    description,
    expected,
    parse: (given) => (pattern.test(given) ? given : undefined),
  };
}

/** A URL that webhooks may be sent to, without a default. */
export function webhookUrl(description: Description): Setting<string | undefined> {
  const isAccepted = { test: (given: string) => callbackProblem(given) === undefined };
  return text(isAccepted, {
    ...description,
    expected: "a valid https:// URL without a user name or password",
  });
}

/** Text without a default that is never shown, because only the service itself reads it. */
export function secret(
  pattern: Pick<RegExp, "test">,
  description: Description & { expected: string },
): Setting<string | undefined> {
  return { ...text(pattern, description), isSecret: true };
}
