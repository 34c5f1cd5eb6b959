/** Ways to spoil a request. Each says how it must be refused, if that is certain. */
import type { Chance } from "./chance.ts";
import { bearer, type Draft, NOBODY } from "./draft.ts";
import { mutated } from "./mutate.ts";
import { oddString, oddValue, toText } from "./odd-values.ts";
import type { World } from "./world.ts";

interface Spoiling {
  readonly world: World;
  readonly chance: Chance;
}

type Way = (draft: Draft, spoiling: Spoiling) => void;

export function spoil(draft: Draft, spoiling: Spoiling): void {
  const { chance } = spoiling;
  const { operation } = draft;
  const hasQuery = operation.parameters.some((each) => each.in === "query");
  const ways: readonly Way[] = [
    ...(operation.request ? [body, body, body, body, body, body, text, text, mediaType] : []),
    ...(hasQuery ? [query, query, query] : []),
    ...(Object.keys(draft.params).length > 0 ? [id, id] : []),
    ...(operation.auth === "none" ? [] : [auth]),
    method,
    header,
    strayBody,
  ];
  chance.pick(ways)(draft, spoiling);
}

const body: Way = (draft, { chance }) => {
  const schema = draft.operation.request?.schema ?? {};
  for (let times = 1 + chance.below(2); times > 0; times--) draft.body = mutated(draft.body, schema, chance);
};

/** A body's text that `JSON.stringify` would not write. */
const text: Way = (draft, { chance }) => {
  const whole = toText(draft.body ?? {});
  const broken = () => whole.slice(0, chance.below(whole.length));
  const [name = "x"] = Object.keys((draft.body ?? {}) as object);
  const twice = `{${JSON.stringify(name)}:${toText(oddValue(chance))},${whole.slice(1)}`;
  draft.text = chance.pick([
    broken(),
    `${whole}}`,
    `\ufeff${whole}`,
    `[${whole}]`,
    JSON.stringify(whole),
    "",
    "nul",
    whole.replaceAll('"', "'"),
    twice,
    `{"__proto__":{"to":1},${whole.slice(1)}`,
    `${whole} // and more`,
    `{,${whole.slice(1)}`,
  ]);
  if (draft.refusal === "a name twice") delete draft.refusal;
  if (draft.text === twice && whole.length > 2) draft.refusal ??= "a name twice";
};

const mediaType: Way = (draft, { chance }) => {
  if (chance.is(30)) draft.headers["Content-Encoding"] = chance.pick(["gzip", "br", "deflate, gzip", "x"]);
  else {
    draft.headers["Content-Type"] = chance.pick([
      "text/plain",
      "text/json",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/jsonp",
      "application/",
      "json",
      "application/xml",
    ]);
  }
  draft.refusal ??= "media type";
};

/** The listener refuses longer targets before anything else is looked at. */
const MOST_OF_TARGET = 1_000;

const query: Way = (draft, { chance }) => {
  const names = draft.operation.parameters.filter((each) => each.in === "query").map(({ name }) => name);
  const name = chance.pick(names);
  const odd = encodeURIComponent(oddString(chance).slice(0, MOST_OF_TARGET).toWellFormed());
  const at = draft.query.findIndex(([each]) => each === name);
  const kinds: readonly (() => void)[] = [
    () => void draft.query.push([name, odd]),
    () => void draft.query.unshift([name, odd]),
    () => void draft.query.unshift([name, ""]),
    () =>
      void draft.query.unshift([
        name,
        chance.pick(["%", "%zz", "%ff", "%00", "%ud800", "+", "&&", "%26", "[]=1"]),
      ]),
    () =>
      void draft.query.unshift([
        name,
        chance.pick(["-1", "0", "1.5", "1e3", "0x10", "201", "1001", "99999999999999999999"]),
      ]),
    () =>
      void draft.query.push([
        oddString(chance)
          .slice(0, 50)
          .toWellFormed()
          .replaceAll(/[#&=%]/g, ""),
        odd,
      ]),
    () => void (at >= 0 && draft.query.splice(at, 1)),
  ];
  chance.pick(kinds)();
};

const id: Way = (draft, { chance, world }) => {
  const name = chance.pick(Object.keys(draft.params));
  draft.params[name] = oddId(chance, world);
};

const auth: Way = (draft, { chance, world }) => {
  const { key } = draft.caller;
  delete draft.headers.Authorization;
  delete draft.headers["X-API-Key"];
  const other = draft.operation.auth === "admin" ? key : world.adminToken;
  Object.assign(
    draft.headers,
    chance.pick<Record<string, string>>([
      {},
      bearer(other),
      bearer(""),
      bearer(`${key}x`),
      bearer(key.slice(0, -1)),
      bearer("\u00ff\u00fe"),
      { Authorization: `Basic ${btoa(`${key}:`)}` },
      { Authorization: "Bearer" },
      { Authorization: `Bearer ${"x".repeat(4_000)}` },
      { "X-API-Key": "__proto__" },
      ...(draft.operation.auth === "admin" ? [{ "X-API-Key": world.adminToken }] : []),
    ]),
  );
  draft.refusal = "who asks";
};

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"];

const method: Way = (draft, { chance }) => {
  const others = METHODS.filter((each) => !draft.operation.methods.includes(each));
  draft.method = chance.pick(others);
};

const header: Way = (draft, { chance }) => {
  const latin = oddString(chance)
    .replaceAll(/[^\x20-\xff]/g, "")
    .slice(0, 3_000);
  const name = chance.pick([
    "Idempotency-Key",
    "X-Request-Id",
    "X-Forwarded-For",
    "Accept",
    "Origin",
    "Accept-Language",
  ]);
  draft.headers[name] = chance.pick([
    latin,
    "",
    "k".repeat(255),
    "k".repeat(256),
    "a, b",
    "é",
    "::1, 1.2.3.4, x",
  ]);
};

/** A body for an operation that takes none. */
const strayBody: Way = (draft, { chance }) => {
  if (draft.operation.request || draft.method === "GET" || draft.method === "HEAD") return;
  draft.text = toText(oddValue(chance));
};

/** An id of a wrong form, of nothing, or of another record. */
function oddId(chance: Chance, world: World): string {
  const kinds: readonly (() => string)[] = [
    () =>
      oddString(chance)
        .replaceAll(/^\.\.?$/g, "x")
        .slice(0, MOST_OF_TARGET),
    () => chance.pick(["%", "%zz", "%ff", "%ff%fe", NOBODY, NOBODY.toUpperCase(), `${NOBODY}x`, " ", "null"]),
    () => world.idOf(chance.pick(OTHERS), chance) ?? NOBODY,
  ];
  return chance.pick(kinds)();
}

const OTHERS = ["/v1/sms/messages", "/v1/emails/messages", "/admin/v1/connectors", "/admin/v1/sms-templates"];
