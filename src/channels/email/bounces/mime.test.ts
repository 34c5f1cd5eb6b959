import { expect, test } from "bun:test";
import { header, parseEntity, walk } from "./mime.ts";

test("a folded value is one line; lines that belong to no field are passed over", () => {
  const entity = parseEntity(" odd: 1\r\nSubject : a\r\n \t b\r\n\tc \r\nno field\r\n:\r\nX: y\r\n\r\nbody");
  expect([header(entity, "subject"), header(entity, "x"), entity.body]).toEqual(["a b c", "y", "body"]);
  expect([...entity.headers.keys()]).toEqual(["subject", "x"]);
});

test("a thousand fields are read, and 256 KiB of them", () => {
  const fields = (count: number, value: string) =>
    Array.from({ length: count }, (_, at) => `X-${at}: ${value}\r\n`).join("");
  const many = parseEntity(`${fields(1_001, "y")}\r\nbody`);
  expect([many.headers.size, many.body]).toEqual([1_000, "body"]);
  const long = parseEntity(`${fields(300, "y".repeat(1_000))}\r\nbody`);
  expect([header(long, "x-250"), header(long, "x-299"), long.body]).toEqual(["y".repeat(1_000), "", ""]);
});

test("a boundary ends its own parts only, and not those of another that begins like it", () => {
  const inner =
    "Content-Type: multipart/report; boundary=b2\r\n\r\n--b2\r\n\r\none\r\n--b2\r\n\r\ntwo\r\n--b2--\r\n";
  const outer = `Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n${inner}--b\r\n\r\nthree\r\n--b--\r\n`;
  const leaves = [...walk(parseEntity(outer))].filter(({ headers }) => headers.size === 0);
  expect(leaves.map(({ body }) => body)).toEqual(["one", "two", "three"]);
});

test("64 parts are read, five deep", () => {
  const flat = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${"--b\r\n\r\nx\r\n".repeat(100)}--b--`;
  expect([...walk(parseEntity(flat))]).toHaveLength(64);
  const nested = Array.from(
    { length: 9 },
    (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`,
  );
  expect([...walk(parseEntity(nested.join("")))]).toHaveLength(6);
});
