/** By what another service's answer is told apart: each of the administration's holds certain fields. */
import type { Method } from "./admin-client.ts";

/** A field that an answer to the request must hold and does not hold as it must; `undefined` where all are there. */
export function missingField(method: Method, path: string, answer: object): string | undefined {
  const held = new Map(Object.entries(answer));
  return fieldsOf(method, path).find((name) => {
    const value: unknown = held.get(name);
    return LISTS.includes(name) ? !isListOfObjects(value) : value === undefined || value === null;
  });
}

function fieldsOf(method: Method, path: string): readonly string[] {
  const row = ANSWERS.find(([paths]) => paths.test(path));
  if (row) return row[1];
  const isList = method === "GET" && !path.includes("/");
  if (isList) return ["data"];
  return path.startsWith("domains") ? ["id", "records"] : ["id"];
}

/** Other paths are a list of records (`GET accounts`) or one of them. */
const ANSWERS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^settings$/, ["data"]],
  [/^settings\//, ["name"]],
  [/^(receipts\/parked|sandbox\/messages|webhooks\/hosts)$/, ["data"]],
  [/^(messages\/[^/]*\/timeline|webhooks\/[^/]*\/attempts)$/, ["data"]],
  [/^(connectors\/[^/]*|webhooks)\/test$/, ["ok"]],
  [/^domains\/[^/]*\/verify$/, ["verified", "records"]],
  [/^webhooks\/(.*\/)?replay$/, ["replayed"]],
  [/^webhooks\/secret(\/rotate)?$/, ["secrets"]],
  [/^suppressions\/import$/, ["added", "kept", "refused"]],
  [/^dlt\/import$/, ["rows", "refused", "ignored_columns"]],
  [/^sandbox\/inbound$/, ["message_id"]],
];

const LISTS: readonly string[] = ["data", "records", "secrets", "refused"];

function isListOfObjects(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "object" && each !== null);
}
