import { type Client, getIfThere } from "../client.ts";
import type { Message } from "./message.ts";

/** The names of templates by their ids. */
export type TemplateNames = ReadonlyMap<string, string>;

/** Finds the names of the templates of messages. Each is read once, however often messages are. */
export function createTemplateNames(
  client: Client,
): (messages: readonly Message[]) => Promise<TemplateNames> {
  const names = new Map<string, string>();
  const read = async (id: string) => {
    // A message outlives its template.
    const template = await getIfThere<{ name: string }>(client, `sms-templates/${id}`);
    names.set(id, template?.name ?? id);
  };
  return async (messages) => {
    const used = new Set(messages.flatMap(({ template_id: id }) => (id === undefined ? [] : [id])));
    await Promise.all([...used].filter((id) => !names.has(id)).map(read));
    return names;
  };
}
