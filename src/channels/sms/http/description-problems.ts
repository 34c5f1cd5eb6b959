/** Problems of a description that its schema cannot express: placeholders, pointers, patterns, fields that need each other. */
import type { AnswerRow, CallbackDescription, Gateway, SendDescription, Source } from "./gateway.ts";
import { CALLBACK_TOKEN, HTTP_SECRETS } from "./http-config.ts";
import { isPlaceholder } from "./message-values.ts";
import { isHeaderValue } from "./render-request.ts";
import { sourceProblem } from "./source.ts";
import { templateProblem } from "./template.ts";

const SECRET_NAMES = Object.keys(HTTP_SECRETS).join(", ");

/** Problems by field (`gateway.send.url`), in words; empty when there are none. */
export function descriptionProblems({ send, answer, callback, check }: Gateway): Record<string, string> {
  return Object.fromEntries([
    ...sendProblems(send),
    ...(check ? urlProblems("gateway.check.url", check.url) : []),
    ...sourceAt("gateway.answer.id", answer.id),
    ...sourceAt("gateway.answer.error_code", answer.error_code),
    ...sourceAt("gateway.answer.error_text", answer.error_text),
    ...(answer.rows ?? []).flatMap(rowProblems),
    ...(callback ? callbackProblems(callback, answer) : []),
  ]);
}

type Problem = readonly [field: string, reason: string];

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const SET_BY_US = ["content-length", "transfer-encoding", "host", "connection"];

function sendProblems(send: SendDescription): readonly Problem[] {
  return [
    ...urlProblems("gateway.send.url", send.url),
    ...(["headers", "query", "form"] as const).flatMap((part) =>
      Object.entries(send[part] ?? {}).flatMap(([name, value]) =>
        templateAt(`gateway.send.${part}.${name}`, value),
      ),
    ),
    ...Object.keys(send.headers ?? {}).flatMap((name) => headerNameAt(`gateway.send.headers.${name}`, name)),
    ...stringsIn(send.json).flatMap((text) => templateAt("gateway.send.json", text)),
    ...bodyProblems(send),
    ...authProblems(send),
    ...(send.required ?? []).flatMap((name): Problem[] =>
      isPlaceholder(name) ? [] : [["gateway.send.required", `there is no placeholder ${name}`]],
    ),
  ];
}

/** Where a request goes is in plain view: a secret in the host would go to whoever answers name lookups. */
function urlProblems(field: string, url: string): readonly Problem[] {
  const problems = templateAt(field, url);
  if (problems.length > 0) return problems;
  return /^https?:\/\/[^\s/?#@{}]+(?:[/?]|$)/.test(url)
    ? []
    : [[field, "must begin with http:// or https:// and a host without placeholders or password"]];
}

function bodyProblems({ method = "POST", form, json }: SendDescription): readonly Problem[] {
  if (form && json !== undefined) return [["gateway.send.json", "a request has form or json, not both"]];
  const hasBody = form !== undefined || json !== undefined;
  return method === "GET" && hasBody
    ? [["gateway.send.method", "a GET has no body: use query, or POST"]]
    : [];
}

function authProblems({ auth }: SendDescription): readonly Problem[] {
  if (!auth) return [];
  const needed = NEEDED_BY_AUTH[auth.kind];
  return [
    ...templateAt("gateway.send.auth.value", auth.value),
    ...templateAt("gateway.send.auth.username", auth.username ?? ""),
    ...(needed && auth[needed] === undefined ? [[`gateway.send.auth.${needed}`, "required"] as const] : []),
    ...(auth.kind === "header" && auth.name ? headerNameAt("gateway.send.auth.name", auth.name) : []),
  ];
}

const NEEDED_BY_AUTH = { basic: "username", header: "name", query: "name", bearer: undefined } as const;

function rowProblems({ from, and }: AnswerRow, index: number): readonly Problem[] {
  const at = `gateway.answer.rows.${index}`;
  return [...sourceAt(`${at}.from`, from), ...sourceAt(`${at}.and.from`, and?.from)];
}

function callbackProblems(callback: CallbackDescription, answer: Gateway["answer"]): readonly Problem[] {
  const at = "gateway.callback";
  const { verify, reports } = callback;
  return [
    ...sourceAt(`${at}.id`, callback.id),
    ...(callback.to ?? []).flatMap((source, index) => sourceAt(`${at}.to.${index}`, source)),
    ...callback.status.flatMap((source, index) => sourceAt(`${at}.status.${index}`, source)),
    ...sourceAt(`${at}.error_code`, callback.error_code),
    ...sourceAt(`${at}.error_text`, callback.error_text),
    ...answerAt(`${at}.answer`, callback.answer),
    ...answerAt(`${at}.inbound.answer`, callback.inbound?.answer),
    ...inboundProblems(callback.inbound),
    ...verifyProblems(verify),
    ...(reports !== undefined && !/^(\/|$)/.test(reports)
      ? [[`${at}.reports`, "must begin with /"] as const]
      : []),
    ...(answer.id || answer.own_id
      ? []
      : [
          ["gateway.answer.id", "required if there is a callback: reports find their message by it"] as const,
        ]),
  ];
}

function verifyProblems(verify: CallbackDescription["verify"]): readonly Problem[] {
  if (!verify) return [];
  const at = "gateway.callback.verify";
  const needsHeader = ["header", "hmac"].includes(verify.scheme);
  return [
    ...(Object.hasOwn(HTTP_SECRETS, verify.secret)
      ? []
      : [[`${at}.secret`, `must be one of ${SECRET_NAMES}`] as const]),
    ...(needsHeader && verify.header === undefined ? [[`${at}.header`, "required"] as const] : []),
    ...(headerProblem(verify.header) ? [[`${at}.header`, "is not a header name"] as const] : []),
  ];
}

function inboundProblems(inbound: CallbackDescription["inbound"]): readonly Problem[] {
  if (!inbound) return [];
  const { when, id, from, to, text, segments, part } = inbound;
  const sources = { when, id, from, to, text, segments, ...part };
  return Object.entries(sources).flatMap(([name, source]) =>
    sourceAt(`gateway.callback.inbound.${name}`, source),
  );
}

function templateAt(field: string, template: string): readonly Problem[] {
  const problem = templateProblem(template, isPlaceholder) ?? secretProblem(template);
  return problem === undefined ? [] : [[field, problem]];
}

function secretProblem(template: string): string | undefined {
  const unknown = secretsIn(template).find((name) => !Object.hasOwn(HTTP_SECRETS, name));
  return unknown === undefined ? undefined : `there is no secret ${unknown}: there are ${SECRET_NAMES}`;
}

function secretsIn(template: string): readonly string[] {
  return [...template.matchAll(/\{\{\s*secret\.(\w+)/g)].map(([, name]) => name ?? "");
}

function sourceAt(field: string, source: Source | undefined): readonly Problem[] {
  const problem = source && (sourceProblem(source) ?? headerProblem(source.header));
  return problem === undefined ? [] : [[field, problem]];
}

function headerProblem(name: string | undefined): string | undefined {
  return name === undefined || HEADER_NAME.test(name) ? undefined : "header is not a header name";
}

/** An answer that cannot be written would fail every callback, and the provider would repeat them in vain. */
function answerAt(field: string, answer: CallbackDescription["answer"]): readonly Problem[] {
  const isGood = isHeaderValue(answer?.content_type ?? "");
  return isGood ? [] : [[`${field}.content_type`, "must be printable ASCII without line ends"]];
}

function headerNameAt(field: string, name: string): readonly Problem[] {
  if (!HEADER_NAME.test(name)) return [[field, "is not a header name"]];
  return SET_BY_US.includes(name.toLowerCase()) ? [[field, "is set by this service"]] : [];
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}

/**
 * Problems of secrets that are put into a header but cannot be, by the secret's name: every message would be refused because of
 * them. Most often a line end was pasted along with a key.
 */
export function secretProblems(
  { send: { auth, headers = {} } }: Gateway,
  secrets: Readonly<Record<string, string>>,
): Record<string, string> {
  const isInHeader = auth?.kind === "bearer" || auth?.kind === "header";
  const templates = [...Object.values(headers), ...(isInHeader ? [auth.value] : [])];
  const bad = templates.flatMap(secretsIn).filter((name) => !isHeaderValue(secrets[name] ?? ""));
  return Object.fromEntries(
    bad.map((name) => [name, "must be printable ASCII without line ends: it goes into a header"]),
  );
}

/** Secrets that are not set although nothing could be sent, or no callback be authentic, without them: by the secret's name. */
export function missingSecrets(
  { send: { url, auth }, callback }: Gateway,
  secrets: Readonly<Record<string, string>>,
): Record<string, string> {
  const verify = callback?.verify;
  const credentials = auth ? [auth.value, auth.username ?? ""] : [];
  const needed = [
    ...neededIn(url).map((name) => [name, "required by gateway.send.url"] as const),
    ...credentials.flatMap(neededIn).map((name) => [name, "required by gateway.send.auth"] as const),
    ...(verify ? [[verify.secret, "required by gateway.callback.verify"] as const] : []),
  ];
  return Object.fromEntries(needed.filter(([name]) => mustBeGiven(name) && !secrets[name]));
}

/** The secrets whose placeholder has no default. */
function neededIn(template: string): readonly string[] {
  return secretsIn(template.replaceAll(/\{\{[^{}]*\|\s*default:[^{}]*\}\}/g, ""));
}

/** A token that is not given is made. */
function mustBeGiven(name: string): boolean {
  return name !== CALLBACK_TOKEN && Object.hasOwn(HTTP_SECRETS, name);
}
