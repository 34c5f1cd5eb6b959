import { expect, test } from "bun:test";
import { checkRecords, type DomainDns } from "./domain-check.ts";
import type { DnsRecord } from "./domain-records.ts";

const absent = (code = "ENODATA") => Object.assign(new Error(code), { code });

/** What DNS says of every name; an Error is thrown. */
interface World {
  readonly txt?: readonly (readonly string[])[] | Error;
  readonly cname?: readonly string[] | Error;
  readonly mx?: readonly string[] | Error;
}

async function check(record: Partial<DnsRecord>, { txt, cname, mx }: World) {
  const say = async <T>(answer: T | Error | undefined): Promise<T> => {
    if (answer === undefined || answer instanceof Error) throw answer ?? absent();
    return answer;
  };
  const dns: DomainDns = {
    resolveTxt: () => say(txt),
    resolveCname: () => say(cname),
    resolveMx: async () => (await say(mx)).map((exchange) => ({ exchange, priority: 10 })),
  };
  const whole = {
    purpose: "ownership",
    type: "TXT",
    name: "n",
    value: "v",
    role: "required",
    ...record,
  } as const;
  const [verdict] = await checkRecords(dns, [whole]);
  return verdict;
}

const ofTxt = async (record: Partial<DnsRecord>, ...found: readonly (readonly string[])[]) =>
  (await check(record, { txt: found }))?.result;

test("a TXT record is found among others, in pieces, and with blanks around it", async () => {
  expect(await ofTxt({}, ["other"], [" v "])).toBe("ok");
  expect(await ofTxt({ value: "abcd" }, ["ab", "cd"])).toBe("ok");
  expect(await ofTxt({ value: "abcd" }, ["ab"], ["cd"])).toBe("ok");
  expect(await ofTxt({}, ["V"])).toBe("wrong");
  expect(await ofTxt({})).toBe("missing");
});

test("of a DKIM record only the key counts, of a DMARC record only that it is one", async () => {
  const dkim = { purpose: "dkim", value: "v=DKIM1; k=rsa; p=AB+/CD" } as const;
  expect(await ofTxt(dkim, ["p=AB+/ CD"])).toBe("ok");
  expect(await ofTxt(dkim, ["v=DKIM1; k=rsa; t=s; p=AB+/", "CD;"])).toBe("ok");
  for (const other of ["v=DKIM1; k=rsa; p=AB", "v=DKIM1; k=rsa; p=", "v=DKIM1; k=rsa"])
    expect(await ofTxt(dkim, [other])).toBe("wrong");
  const dmarc = { purpose: "dmarc", value: "v=DMARC1; p=none" } as const;
  expect(await ofTxt(dmarc, ["v=DMARC1 ; p=reject"])).toBe("ok");
  expect(await ofTxt(dmarc, ["p=reject; v=DMARC1;"])).toBe("wrong");
  expect(await ofTxt(dmarc, ["v=DMARC10; p=none"])).toBe("wrong");
});

const path = { purpose: "return_path", type: "CNAME", name: "n", value: "Mail.Operator.example" } as const;

test("a return path is the alias, in any case and with or without its dot, or any host that takes mail", async () => {
  for (const alias of ["mail.operator.example", "MAIL.operator.EXAMPLE."])
    expect(await check(path, { cname: ["other.example", alias] })).toEqual({
      type: "CNAME",
      name: "n",
      result: "ok",
      found: ["other.example", "mail.operator.example"],
    });
  const own = await check(path, { mx: ["", "MX.acme.example."] });
  expect([own?.result, own?.found]).toEqual(["ok", ["MX mx.acme.example"]]);
  const elsewhere = { cname: ["other.example."], mx: ["mx.other.example"] };
  expect((await check(path, elsewhere))?.result).toBe("ok");
});

test("a return path leads nowhere where its alias is another without MX, or there is nothing but a null MX", async () => {
  const wrong = await check(path, { cname: ["other.example."] });
  expect([wrong?.result, wrong?.found]).toEqual(["wrong", ["other.example"]]);
  const missing = await check(path, { mx: [""] });
  expect([missing?.result, missing?.found]).toEqual(["missing", []]);
});

test("no answer proves nothing: not that a record is missing, nor that an alias is wrong", async () => {
  const away = absent("ESERVFAIL");
  expect(await check({}, { txt: away })).toMatchObject({ result: "unknown", found: [] });
  expect((await check({}, { txt: absent("ENOTFOUND") }))?.result).toBe("missing");
  expect(await check(path, { cname: ["other.example"], mx: away })).toMatchObject({
    result: "unknown",
    found: ["other.example"],
    problem: "DNS could not be asked (ESERVFAIL); try again later",
  });
  expect((await check(path, { cname: away }))?.result).toBe("unknown");
  // They may be those of the alias, which is not known.
  expect((await check(path, { cname: away, mx: ["mx.acme.example"] }))?.result).toBe("unknown");
  expect((await check(path, { cname: away, mx: ["Mail.operator.example."] }))?.result).toBe("ok");
  const deaf = await check({}, { txt: new Error("no code") });
  expect(deaf?.problem).toBe("DNS could not be asked (no answer); try again later");
});

test("of what strangers have in their zones only five values are kept, and 512 characters of each", async () => {
  const verdict = await check({}, { txt: Array.from({ length: 9 }, (_, index) => [`${index}`.repeat(600)]) });
  expect(verdict?.found).toEqual(Array.from({ length: 5 }, (_, index) => `${index}`.repeat(512)));
});

test("all that is asked about a domain is asked at once, so that silence costs its time only once", () => {
  const asked: string[] = [];
  const silence = (type: string) => (name: string) => {
    asked.push(`${type} ${name}`);
    return new Promise<never>(() => {});
  };
  const dns = { resolveTxt: silence("TXT"), resolveCname: silence("CNAME"), resolveMx: silence("MX") };
  const record = (type: "TXT" | "CNAME", name: string) =>
    ({ type, name, purpose: "ownership", value: "v", role: "required" }) as const;
  void checkRecords(dns, [record("TXT", "a"), record("CNAME", "b")]);
  expect(asked).toEqual(["TXT a", "CNAME b", "MX b"]);
});
