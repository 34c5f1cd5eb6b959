import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { Glob } from "bun";

const ROOT = join(import.meta.dir, "..");
const PAGES = ["*.md", "docs/**/*.md", "bench/**/*.md", "examples/**/*.md"];

test("every link between the pages leads to a file, and to a heading of it", () => {
  const broken: string[] = [];
  expect(pages().length).toBeGreaterThan(20);
  for (const page of pages()) {
    for (const target of linksOf(readFileSync(page, "utf8"))) {
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? page : join(dirname(page), path);
      const isThere = existsSync(file);
      const isAnchor = anchor === undefined || (isThere && anchorsOf(readFileSync(file, "utf8")).has(anchor));
      if (!isThere || !isAnchor) broken.push(`${relative(ROOT, page)}: ${target}`);
    }
  }
  expect(broken).toEqual([]);
});

test("every source file that a page or a comment names is there", () => {
  const sources = filesLike("{src,test,scripts,bench,examples}/**/*.{ts,sql}");
  const paths = sources.map((path) => `/${relative(ROOT, path)}`);
  const isThere = (name: string) => EXAMPLES.has(name) || paths.some((path) => path.endsWith(`/${name}`));
  const gone = [...pages(), ...filesLike("src/**/*.ts")].flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/`([\w./-]+\.(?:ts|sql))`/g)]
      .map(([, name = ""]) => name)
      .filter((name) => !isThere(name))
      .map((name) => `${relative(ROOT, file)}: ${name}`),
  );
  expect(paths.length).toBeGreaterThan(1_000);
  expect(gone).toEqual([]);
});

/** Names that CONTRIBUTING gives as examples. */
const EXAMPLES = new Set(["kebab-case.ts", "types.ts", "index.ts", "x.test.ts"]);

test("a heading's anchor is its words in lower case, a second one of the same words is numbered", () => {
  const anchors = anchorsOf("# Who sends?\n## `a_b` and c\n```\n# no heading\n```\n## Who sends?\n");
  expect([...anchors]).toEqual(["who-sends", "a_b-and-c", "who-sends-1"]);
});

test("a page with commands of `postrider` says what that stands for", () => {
  const texts = pages().map((page) => [relative(ROOT, page), readFileSync(page, "utf8")] as const);
  const typed = texts.filter(([, text]) => /^```sh\n(?:(?!```).*\n)*?postrider /m.test(text));
  expect(typed.length).toBeGreaterThan(5);
  const unsaid = typed.filter(([, text]) => !text.includes("`postrider` stands"));
  expect(unsaid.map(([page]) => page)).toEqual([]);
});

function pages(): string[] {
  return PAGES.flatMap(filesLike);
}

function filesLike(pattern: string): string[] {
  return [...new Glob(pattern).scanSync({ cwd: ROOT, absolute: true })];
}

/** Targets within the repository: those of other sites are not ours to keep. */
function linksOf(text: string): string[] {
  return [...withoutCode(text).matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, target]) => target ?? "")
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** As GitHub makes them. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of withoutBlocks(text).matchAll(/^#{1,6} +(.+)$/gm)) {
    const words = heading.toLowerCase().replaceAll(/\]\([^)]*\)/g, "");
    const plain = words.replaceAll(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-");
    let anchor = plain;
    for (let next = 1; anchors.has(anchor); next++) anchor = `${plain}-${next}`;
    anchors.add(anchor);
  }
  return anchors;
}

function withoutBlocks(text: string): string {
  return text.replaceAll(/^```.*?^```/gms, "");
}

function withoutCode(text: string): string {
  return withoutBlocks(text).replaceAll(/`[^`\n]*`/g, "");
}
