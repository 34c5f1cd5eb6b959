import { expect, test } from "bun:test";
import type { SendSms } from "../../core/sms/send-sms.ts";
import type { Directory } from "../records/directory.ts";
import { findTemplates } from "./find-templates.ts";

test("where neither template can be read that is one failure, and nobody misses the other", async () => {
  const missed: unknown[] = [];
  const onMissed = (reason: unknown) => void missed.push(reason);
  process.on("unhandledRejection", onMissed);
  const fails = async () => Promise.reject(new Error("the database cannot be read"));
  const directory = { template: fails, templateByDltId: fails } as unknown as Directory;
  const request = { templateId: "t", dltTemplateId: "d" } as SendSms;
  const found = findTemplates(directory, "a", request);
  expect(String(await Promise.resolve(found).catch((error) => error))).toContain("cannot be read");
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", onMissed);
  expect(missed).toEqual([]);
});
