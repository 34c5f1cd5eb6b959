import { expect, test } from "bun:test";
import { type Client, Failure } from "../client.ts";
import type { Message } from "./message.ts";
import { createTemplateNames } from "./template-names.ts";

const message = (template_id?: string): Message => ({
  message_id: "1",
  account_id: "a",
  channel: "sms",
  to: "+919876543210",
  status: "sent",
  created_at: "2026-11-28T10:00:00.000Z",
  ...(template_id && { template_id }),
});

/** Knows one template, and none that was deleted. */
function clientOf(asked: string[], failure: Failure): Client {
  const answer = async (path: string): Promise<unknown> => {
    asked.push(path);
    if (path === "sms-templates/known") return { name: "Code" };
    throw failure;
  };
  return { get: answer, send: answer } as Client;
}

test("a template is read once for all its messages, and one that was deleted is called by its id", async () => {
  const asked: string[] = [];
  const names = createTemplateNames(clientOf(asked, new Failure(404, "not found")));
  await names([message("known"), message("known"), message()]);
  const found = await names([message("known"), message("gone")]);
  expect([...found]).toEqual([
    ["known", "Code"],
    ["gone", "gone"],
  ]);
  expect(asked).toEqual(["sms-templates/known", "sms-templates/gone"]);
});

test("a template that cannot be read now is not taken for one that was deleted", async () => {
  const names = createTemplateNames(clientOf([], new Failure(503, "service unavailable")));
  await expect(names([message("other")])).rejects.toThrow("service unavailable");
});
