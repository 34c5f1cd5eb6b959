/** Rules that hold for every answer. Returns one sentence per problem; none is good. */
import type { FuzzRequest } from "./draft.ts";
import { mustBeRefused } from "./must-be-refused.ts";

export interface FuzzAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export function problemsOf(request: FuzzRequest, answer: FuzzAnswer): readonly string[] {
  const { operation, method } = request;
  const shared = [...idProblems(request, answer), ...errorProblems(answer)];
  if (method !== operation.method) return [...shared, ...methodProblems(request, answer)];
  return [
    ...shared,
    ...statusProblems(request, answer),
    ...bodyProblems(request, answer),
    ...wordProblems(request, answer),
  ];
}

const SANE_ID = /^[!-~]{1,128}$/;

function idProblems({ headers }: FuzzRequest, answer: FuzzAnswer): readonly string[] {
  const id = answer.headers.get("x-request-id");
  const given = headers["X-Request-Id"]?.trim();
  if (id === null) return ["no X-Request-Id"];
  if (given !== undefined && SANE_ID.test(given) && id !== given)
    return [`X-Request-Id is ${id}, not ${given}`];
  return SANE_ID.test(id) ? [] : [`X-Request-Id is ${id}`];
}

/** The error body of the interface, and nothing but it. */
function errorProblems({ status, text, headers }: FuzzAnswer): readonly string[] {
  if (status < 400 || text === "") return [];
  const body = parsed(text) as Record<string, unknown> | undefined;
  if (headers.get("content-type") !== "application/json")
    return [`an error is ${headers.get("content-type")}`];
  if (typeof body !== "object" || body === null) return ["an error is no JSON object"];
  const { code, message, details, ...others } = body;
  return [
    ...(code === status ? [] : [`code is ${code}`]),
    ...(typeof message === "string" && message !== "" ? [] : [`message is ${message}`]),
    ...(Object.keys(others).length === 0 || "problems" in others
      ? []
      : [`an error has ${Object.keys(others)}`]),
    ...(details === undefined || areSentences(details) ? [] : [`details are ${JSON.stringify(details)}`]),
  ];
}

function areSentences(details: unknown): boolean {
  if (typeof details !== "object" || details === null || Array.isArray(details)) return false;
  const sentences = Object.values(details);
  return sentences.length > 0 && sentences.every((each) => typeof each === "string" && each !== "");
}

/** For a method that the path does not have. */
function methodProblems({ operation, method }: FuzzRequest, answer: FuzzAnswer): readonly string[] {
  const { status, headers, text } = answer;
  if (method === "HEAD" && operation.methods.includes("GET")) return text === "" ? [] : ["HEAD has a body"];
  if (method === "OPTIONS" && status === 204)
    return headers.has("access-control-allow-methods") ? [] : ["no CORS"];
  // Something else that was spoilt may have made the path one that does not exist.
  if (status === 404) return [];
  if (status !== 405) return [`${status} for ${method}`];
  const allow = (headers.get("allow") ?? "").split(", ");
  const isWhole = operation.methods.every((each) => allow.includes(each));
  return isWhole && !allow.includes(method) ? [] : [`Allow is ${allow}`];
}

function statusProblems(request: FuzzRequest, { status, headers }: FuzzAnswer): readonly string[] {
  const { operation, refusal, params } = request;
  // With an empty id it is another path, and of one that is not there nobody is asked who he is.
  const isToBeKnown = refusal === "who asks" && !Object.values(params).includes("");
  // A repeat gets the answer of the first request, whatever its body.
  const because = headers.has("idempotent-replayed") ? undefined : mustBeRefused(request);
  return [
    ...(operation.answers.has(status) ? [] : [`${status} is not described`]),
    ...(status >= 500 ? [`a fault of the service: ${status}`] : []),
    ...(because !== undefined && status < 400 ? [`${status}, though ${because}`] : []),
    ...(isToBeKnown && status !== 401 ? [`${status}, though who asks is unknown`] : []),
  ];
}

function bodyProblems({ operation }: FuzzRequest, { status, headers, text }: FuzzAnswer): readonly string[] {
  const bodies = operation.answers.get(status)?.bodies;
  if (!bodies) return [];
  const type = headers.get("content-type")?.split(";")[0] ?? "";
  if (bodies.size === 0) return text === "" ? [] : [`${status} has a body that nobody described`];
  if (bodies.has("*/*")) return [];
  const judge = bodies.get(type);
  if (!judge) return [`${status} is ${type}, which nobody described`];
  const body = type === "application/json" ? parsed(text) : text;
  const problem = judge(body);
  return problem === undefined ? [] : [`the body of ${status} is not as described: ${problem}`];
}

const WORDS: Readonly<Record<number, RegExp>> = {
  400: /^validation failed$/,
  401: /^(invalid or missing (API key|admin token)|invalid console password|callback not authenticated)$/,
  404: /^(message not found|contact not found|not found)$/,
  415: /^unsupported media type$/,
};

function wordProblems({ operation }: FuzzRequest, { status, headers, text }: FuzzAnswer): readonly string[] {
  const { message, details } = (status >= 400 && (parsed(text) as Record<string, unknown>)) || {};
  const wanted =
    operation.auth === "api-key" && status === 401 ? /^invalid or missing API key$/ : WORDS[status];
  return [
    ...(wanted === undefined || wanted.test(String(message)) ? [] : [`${status} says ${message}`]),
    ...(status !== 400 || details !== undefined ? [] : ["400 without details"]),
    ...(status !== 429 || headers.has("retry-after") ? [] : ["429 without Retry-After"]),
  ];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
