/** docs/error-codes.md: the codes that it lists are the program's. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";

const ROOT = join(import.meta.dir, "..");

/** Why a connector is down, which is shown without its code. */
const OF_NO_MESSAGE = ["mx.local_address"];

test("the page lists every code that the program gives a message, and no other", () => {
  const page = readFileSync(join(ROOT, "docs/error-codes.md"), "utf8");
  const listed = [...page.matchAll(/`((?:[a-z]+\.)?[a-z][a-z0-9]*(?:_[a-z0-9]+)*)`/g)].map(
    ([, code = ""]) => code,
  );
  const codes = codesOfProgram();
  expect(codes.size).toBeGreaterThan(50);
  expect([...codes].filter((code) => !listed.includes(code))).toEqual([]);
  const dotted = listed.filter((code) => /^(?:smpp|smtp|mx|http|simulator)\.[a-z_]+[a-z]$/.test(code));
  expect(dotted.filter((code) => !codes.has(code))).toEqual([]);
});

/** Literals that begin with a connector's kind, codes without a dot, and those of messages that a connector cannot send. */
function codesOfProgram(): Set<string> {
  const files = [...new Glob("src/{core,store,delivery,channels}/**/*.ts").scanSync(ROOT)].filter(isBuilt);
  const codes = files.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), "utf8");
    const kind = /^src\/channels\/sms\/(\w+)/.exec(file)?.[1];
    return [
      ...found(text, /"((?:smpp|smtp|mx|http|simulator|provider)\.[a-z_]+[0-9]?)"/g),
      ...found(text, /\bcode(?::| =) "([a-z_]+)"/g),
      ...found(text, /\brefusal\("([a-z_]+)"/g).map((code) => `${kind}.${code}`),
    ];
  });
  return new Set(codes.filter((code) => !OF_NO_MESSAGE.includes(code)));
}

function isBuilt(file: string): boolean {
  return !/\.(?:test|contract)\.ts$|\/contract\//.test(file);
}

function found(text: string, code: RegExp): string[] {
  return [...text.matchAll(code)].map(([, each = ""]) => each);
}
