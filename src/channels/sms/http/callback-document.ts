import { isObject } from "../../../core/body/is-object.ts";
import type { CallbackRequest } from "../../channel.ts";
import { parseExactJson } from "./exact-json.ts";

/**
 * The content of a callback, whether it came as JSON, a form or a query; `undefined` if it cannot be read. The fields of a form or
 * a query are members of an object.
 */
export function documentOf(request: CallbackRequest, jsonField: string | undefined): object | undefined {
  if (request.method === "GET") return withJson(fieldsOf(queryOf(request.url)), jsonField);
  const type = request.headers.get("content-type") ?? "";
  const looksLikeJson = /^\s*[[{]/.test(request.body);
  if (/json/i.test(type) || (looksLikeJson && !/form/i.test(type))) return parsed(request.body);
  // A client that is given a text and no type says that it sends a form, as PHP's curl does. No form is JSON from end to end.
  // JSON in which there is nothing is a form without fields: the query says it all.
  const mislabelled = looksLikeJson ? parsed(request.body) : undefined;
  if (mislabelled && Object.keys(mislabelled).length > 0) return mislabelled;
  const fields = mislabelled ? {} : formFields(request.body, type);
  return withJson({ ...fieldsOf(queryOf(request.url)), ...fields }, jsonField);
}

function formFields(body: string, type: string): Record<string, string> {
  const boundary = BOUNDARY.exec(type)?.[1];
  return boundary === undefined ? fieldsOf(body) : multipartFields(body, boundary);
}

/** Of a form as PHP's curl sends it that was given a list of fields. */
const BOUNDARY = /^\s*multipart\/form-data\b.*?;\s*boundary="?([^";]{1,70})/i;

/** The fields of such a form (RFC 7578 §4). */
function multipartFields(body: string, boundary: string): Record<string, string> {
  const parts = `\r\n${body}`.split(`\r\n--${boundary}`);
  const fields = parts.flatMap((part): [string, string][] => {
    const headEnd = part.indexOf("\r\n\r\n");
    const name = headEnd < 0 ? undefined : FIELD_NAME.exec(part.slice(0, headEnd))?.[1];
    return name === undefined ? [] : [[name, part.slice(headEnd + 4)]];
  });
  return Object.fromEntries(fields);
}

const FIELD_NAME = /^content-disposition:.*?[;\s]name="([^"]*)"/im;

/** The fields of a form or a query; of several with the same name, the last one. */
export function fieldsOf(encoded: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(encoded));
}

export function queryOf(url: string): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start + 1);
}

function withJson(fields: Record<string, string>, jsonField: string | undefined): object | undefined {
  const text = jsonField === undefined ? undefined : fields[jsonField];
  return text === undefined ? fields : parsed(text);
}

/** `undefined` if it is not JSON, or neither an object nor an array. */
function parsed(text: string): object | undefined {
  const document = parseExactJson(text);
  return isObject(document) || Array.isArray(document) ? document : undefined;
}
