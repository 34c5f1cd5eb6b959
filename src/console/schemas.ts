import { type Client, Failure } from "./client.ts";
import type { Schema } from "./forms/fields.ts";

/** The schema of the body that an operation takes. */
export type ReadSchema = (method: "post" | "patch", path: string) => Promise<Schema>;

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

/** Reads the description of the API once, when the first form asks for it. */
export function createSchemas(client: Client): ReadSchema {
  let reading: Promise<Description> | undefined;
  return async (method, path) => {
    reading ??= client.get<Description>("/openapi.json").catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    const operation = (await reading).paths[`/admin/v1/${path}`]?.[method];
    const schema = operation?.requestBody?.content["application/json"]?.schema;
    if (!schema) throw new Failure(404, "this cannot be written here");
    return schema;
  };
}
