import { expect, test } from "bun:test";
import fc from "fast-check";
import { cpuMsOf } from "../../../../test/cpu-time.ts";
import { allowsHost, parseStsPolicy, stsIdOf } from "./mta-sts-policy.ts";

const FILE =
  "version: STSv1\r\nmode: enforce\r\nmx: mail.example.com\r\nmx: *.example.net\r\nmax_age: 604800\r\n";

test("the example of RFC 8461 §3.2 is read, with either line end, without spaces, and with fields that nobody knows", () => {
  const policy = {
    mode: "enforce",
    mx: ["mail.example.com", "*.example.net"],
    maxAgeMs: 604_800_000,
  } as const;
  expect(parseStsPolicy(FILE)).toEqual({ ...policy });
  expect(parseStsPolicy(`${FILE.replaceAll("\r\n", "\n")}new_field:  x \n`)).toEqual({ ...policy });
  expect(parseStsPolicy(FILE.replaceAll(": ", ":"))).toEqual({ ...policy });
});

test.each([
  ["no version", FILE.replace("version: STSv1\r\n", "")],
  ["another version", FILE.replace("STSv1", "STSv2")],
  ["an unknown mode", FILE.replace("enforce", "always")],
  ["no max_age", FILE.replace(/max_age.*\r\n/, "")],
  ["a max_age that is no number", FILE.replace("604800", "-1")],
  ["an unknown mode before a known one", `mode: always\r\n${FILE}`],
  ["no host", FILE.replaceAll(/mx:.*\r\n/g, "")],
  ["a web page", "<html>not found</html>"],
])("a file with %s is no policy", (_, text) => {
  expect(parseStsPolicy(text)).toBeUndefined();
});

test("of a field that is repeated the first counts, but every host does", () => {
  const repeated = `${FILE}version: STSv2\r\nmode: none\r\nmax_age: 0\r\nmx: third.example\r\n`;
  expect(parseStsPolicy(repeated)).toEqual({
    mode: "enforce",
    mx: ["mail.example.com", "*.example.net", "third.example"],
    maxAgeMs: 604_800_000,
  });
});

test("of many and of endless hosts only so many characters are kept, and the others count", () => {
  const hosts = Array.from({ length: 100 }, (_, index) => `mx: ${index}.${"z".repeat(600)}\n`).join("");
  const { mx = [] } = parseStsPolicy(FILE.replace("mx:", `${hosts}mx:`)) ?? {};
  expect(mx.join("").length).toBeLessThanOrEqual(4_096);
  expect(mx.slice(-2)).toEqual(["mail.example.com", "*.example.net"]);
});

test("no policy holds longer than a year, and none needs hosts to say that there is none", () => {
  expect(parseStsPolicy(FILE.replace("604800", "9999999999"))?.maxAgeMs).toBe(31_557_600_000);
  expect(parseStsPolicy("version: STSv1\nmode: none\nmax_age: 0\n")).toEqual({
    mode: "none",
    mx: [],
    maxAgeMs: 0,
  });
});

test("a star stands for one label, and for nothing else", () => {
  const policy = { mode: "enforce", mx: ["mail.example.com", "*.example.net"], maxAgeMs: 1 } as const;
  const hosts = [
    "mail.example.com",
    "a.example.net",
    "example.net",
    "a.b.example.net",
    "mail.example.com.evil.test",
  ];
  expect(hosts.filter((host) => allowsHost(policy, host))).toEqual(["mail.example.com", "a.example.net"]);
});

test("one record names the policy; two of them, or one without an id, name none", () => {
  expect(stsIdOf(["v=spf1 -all", "v=STSv1; id=20260101T000000Z;"])).toBe("20260101T000000Z");
  expect(stsIdOf(["v=STSv1; id=1", "v=STSv1; id=2"])).toBeUndefined();
  expect(stsIdOf(["v=STSv1; id="])).toBeUndefined();
  expect(stsIdOf([])).toBeUndefined();
});

test("no text breaks the reader", () => {
  const line = fc.oneof(
    fc.string(),
    fc.constantFrom("version: STSv1", "mode: enforce", "mx: *.", "max_age: 1", ":"),
  );
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const policy = parseStsPolicy(lines.join("\n"));
      if (policy) allowsHost(policy, "mx.example.net");
    }),
  );
});

test("a policy with a long run of blanks is read in an instant", async () => {
  const tookMs = await cpuMsOf(() =>
    expect(parseStsPolicy(`${FILE}a: b${"\t".repeat(65_000)}c`)?.mode).toBe("enforce"),
  );
  // It took half a minute, in which the service did nothing else.
  expect(tookMs).toBeLessThan(5_000);
});
