import { describe, expect, test } from "bun:test";
import { cpuMsOf } from "../../../test/cpu-time.ts";
import type { SmsCategory } from "../sms/sms-category.ts";
import { dltIdProblem } from "./dlt-id.ts";
import { type DltDeclaration, preflightDlt } from "./preflight-dlt.ts";

const entity = "1101172974420810001";
const other = "1101172974420830004";
const templateId = "1107161234567890123";
const good = {
  template: { body: "Hi {#var#}", dltTemplateId: templateId, dltEntityId: entity },
  sender: { senderId: "ACMECO" },
  variables: { "1": "Asha" },
  variableMaxLength: 40,
  templateField: "dlt_template_id",
  entities: [],
} satisfies DltDeclaration;

function errorsOf(changes: Partial<DltDeclaration> & { drop?: string }): Readonly<Record<string, string>> {
  const { drop, ...rest } = changes;
  const declared = { ...good, ...rest } as Record<string, unknown>;
  if (drop) delete declared[drop];
  const judged = preflightDlt(declared as unknown as DltDeclaration);
  return "errors" in judged ? judged.errors : {};
}

describe("before an SMS to India", () => {
  test("what the template and the sender say is resolved", () => {
    expect(preflightDlt(good)).toEqual({
      value: { from: "ACMECO", dltTemplateId: templateId, dltEntityId: entity },
    });
  });

  test("the entity is the request's, else the template's, the sender's, the account's", () => {
    const template = { body: "Hi", dltTemplateId: templateId };
    const resolve = (changes: Partial<DltDeclaration>) =>
      preflightDlt({ ...good, template, ...changes } as DltDeclaration);
    const withEntity = (dltEntityId: string) => ({ value: expect.objectContaining({ dltEntityId }) });
    expect(resolve({ dltEntityId: other, defaultEntityId: entity })).toEqual(withEntity(other));
    expect(resolve({ sender: { senderId: "A", dltEntityId: other }, defaultEntityId: entity })).toEqual(
      withEntity(other),
    );
    expect(resolve({ defaultEntityId: entity })).toEqual(withEntity(entity));
    expect(resolve({})).toEqual({ errors: { dlt_entity_id: expect.stringContaining("required") } });
  });

  test("another entity than the template's or the sender's is refused", () => {
    expect(errorsOf({ dltEntityId: other })).toEqual({
      dlt_entity_id: "is not the entity the template is registered under",
    });
    expect(errorsOf({ sender: { senderId: "ACMECO", dltEntityId: other } })).toEqual({
      from: "is registered under another DLT entity",
    });
  });

  test("ids that a record has from the time in which its account was a sandbox are refused as a request's are", () => {
    const wrong = "test-1 must be a DLT id of 8 to 30 digits";
    const template = { ...good.template, dltTemplateId: "test-1", dltEntityId: "test-1" };
    const details = { dlt_template_id: wrong, dlt_entity_id: wrong };
    expect(errorsOf({ template, templateField: "template_id" })).toEqual(details);
    const sender = { senderId: "ACMECO", dltEntityId: "test-1" };
    expect(errorsOf({ sender, template: { body: "Hi", dltTemplateId: templateId } })).toEqual({
      dlt_entity_id: wrong,
    });
  });

  test("the header must be registered and linked", () => {
    expect(errorsOf({ drop: "sender" }).from).toStartWith("required for Indian numbers");
    expect(errorsOf({ drop: "sender", from: "NOPE" })).toEqual({
      from: "is not a registered sender of this account",
    });
    const linked = (linkedDltTemplateIds: string[]) =>
      errorsOf({ sender: { senderId: "ACMECO", linkedDltTemplateIds } });
    expect(linked([templateId])).toEqual({});
    expect(linked(["12345678"])).toEqual({ from: "is not linked to this DLT template" });
  });

  test("the header is the bare one, without what operators put round it", () => {
    for (const senderId of ["VM-ACMECO", "VM-ACMECO-S", "AD-600123-P"])
      expect(errorsOf({ sender: { senderId } }).from).toContain(senderId.slice(3, 9));
    for (const senderId of ["ACMECO", "600123", "A-B"])
      expect(errorsOf({ sender: { senderId } })).toEqual({});
  });

  test("a promotional header is refused for what is never promotional: transactional and implicit service templates", () => {
    const judge = (category?: SmsCategory) =>
      errorsOf({
        sender: { senderId: "ACMECO", headerType: "promotional" },
        template: { ...good.template, ...(category && { category }) },
      });
    for (const category of ["transactional", "service_implicit"] as const)
      expect(judge(category)).toEqual({ from: "is a header for promotional messages only" });
    for (const category of ["service_explicit", "promotional", undefined] as const)
      expect(judge(category)).toEqual({});
  });

  test("a template without DLT id is refused, unless the request names one", () => {
    const template = { body: "Hi", dltEntityId: entity };
    expect(errorsOf({ template }).dlt_template_id).toStartWith("required for Indian numbers");
    expect(errorsOf({ template, dltTemplateId: templateId })).toEqual({});
  });

  test("a value has at most 40 characters, or as many as the setting says", () => {
    expect(errorsOf({ variables: { "1": "ह".repeat(40) } })).toEqual({});
    expect(errorsOf({ variables: { "1": "x".repeat(41) } })).toEqual({
      "variables.1": "must be at most 40 characters for Indian numbers",
    });
    expect(errorsOf({ variables: { "1": "x".repeat(31) }, variableMaxLength: 30 })).toHaveProperty([
      "variables.1",
    ]);
    expect(errorsOf({ drop: "template", dltTemplateId: templateId, dltEntityId: entity })).toEqual({});
  });

  test.each([
    ["numeric", ["0", "12345", 7], ["", "12a", "1.5", "१२", -1]],
    ["alphanumeric", ["AB12", "आशा", "two words"], ["a-b", "a_b", "50%", ""]],
    ["url", ["https://x.in/a?b=c", "x.in/a", "a.b.c", "..x"], ["x", ".x", "x.", "x/a.b", "not a link", ""]],
    ["urlott", ["app://open", "https://x.in"], ["open", ""]],
    ["cbn", ["+919876543210", "1800 123 456", "022-1234567"], ["call", "12a", ""]],
    ["email", ["help@example.in"], ["help", "a@b"]],
    ["var", ["any thing – at all!", ""], []],
  ] as const)("{#%s#} takes %p and refuses %p", (tag, accepted, refused) => {
    const judge = (value: string | number) =>
      errorsOf({ template: { ...good.template, body: `a {#${tag}#}` }, variables: { "1": value } });
    for (const value of accepted) expect(judge(value)).toEqual({});
    for (const value of refused) expect(judge(value)["variables.1"]).toContain(`{#${tag}#}`);
  });

  test("a link of either kind is one that is whitelisted for the entity", () => {
    const entities = [{ entityId: entity, whitelistedUrls: ["acme.in"] }];
    for (const tag of ["url", "urlott"]) {
      const template = { ...good.template, body: `a {#${tag}#}` };
      const judge = (link: string) => errorsOf({ template, entities, variables: { "1": link } });
      expect(judge("https://acme.in/a")).toEqual({});
      expect(judge("https://evil.example/a")["variables.1"]).toContain("whitelisted for the entity");
    }
  });

  test("a value as long as a body may be is refused at once, whatever its kind", async () => {
    const tookMs = await cpuMsOf(() => {
      for (const tag of ["numeric", "alphanumeric", "url", "urlott", "cbn", "email"]) {
        const template = { ...good.template, body: `a {#${tag}#}` };
        for (const piece of [".", "0", "a.", "a@", "https://"]) {
          const value = `${piece.repeat(2 ** 20 / piece.length)} `;
          expect(errorsOf({ template, variables: { "1": value } })).toEqual({
            "variables.1": "must be at most 40 characters for Indian numbers",
          });
        }
      }
    });
    // Of dots alone it took half an hour.
    expect(tookMs).toBeLessThan(5_000);
  });

  test("a missing variable is left to rendering", () => {
    expect(errorsOf({ drop: "variables" })).toEqual({});
  });
});

test("DLT ids are digits in live accounts and short visible text in a sandbox", () => {
  expect(dltIdProblem(templateId, "live")).toBeUndefined();
  expect(dltIdProblem("T-1", "live")).toBe("must be a DLT id of 8 to 30 digits");
  expect(dltIdProblem("T-1", "sandbox")).toBeUndefined();
  expect(dltIdProblem("T 1", "sandbox")).toBe("must be 1 to 64 visible ASCII characters");
});
