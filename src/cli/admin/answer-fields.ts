/** The fields that each answer of the admin API has. An answer without them came from another service, or another version. */
import type { Method } from "./admin-client.ts";

/** The first field that is missing from an answer, or is not the list that it has to be; `undefined` if there is none. */
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

/** Fields by path. Other paths are a list of records (`GET accounts`) or one of them. */
const ANSWERS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^settings$/, ["data"]],
  [/^settings\//, ["name"]],
  [/^(receipts\/parked|sandbox\/messages|webhooks\/hosts)$/, ["data"]],
  [/^(messages\/[^/]*\/timeline|webhooks\/[^/]*\/attempts)$/, ["data"]],
  [/^messages\/[^/]*$/, ["message_id"]],
  [/^console-password$/, ["console_password"]],
  [/^(connectors\/[^/]*|webhooks)\/test$/, ["ok"]],
  [/^domains\/[^/]*\/verify$/, ["verified", "records"]],
  [/^webhooks\/(.*\/)?replay$/, ["replayed"]],
  [/^webhooks\/secret(\/rotate)?$/, ["secrets"]],
  [/^webhooks\/[^/]*$/, ["id", "last_attempts"]],
  [/^suppressions\/import$/, ["added", "kept", "refused"]],
  [/^dlt\/import$/, ["rows", "refused", "ignored_columns"]],
  [/^sandbox\/inbound$/, ["message_id"]],
];

const LISTS: readonly string[] = ["data", "records", "secrets", "refused", "last_attempts"];

function isListOfObjects(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "object" && each !== null);
}
