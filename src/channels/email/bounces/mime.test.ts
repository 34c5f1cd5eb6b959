import { expect, test } from "bun:test";
import { decodedBody, fromUtf8, header, isEncoded, parseEntity, walk } from "./mime.ts";

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

test("only a multipart with a boundary has parts, the last of which may lack its end, and none comes after the end", () => {
  const bodies = (type: string, body: string) =>
    [...walk(parseEntity(`Content-Type: ${type}\r\n\r\n${body}`))].slice(1).map((part) => part.body);
  const mixed = "multipart/mixed; boundary=b";
  expect(bodies(mixed, "--b\r\n\r\none\r\n--b\r\n\r\ntwo")).toEqual(["one", "two"]);
  expect(bodies(mixed, "--b\r\n\r\none\r\n--b")).toEqual(["one"]);
  expect(bodies(mixed, "--b\r\n\r\none\r\n--b--\r\n--b\r\n\r\ntwo")).toEqual(["one"]);
  expect(bodies("multipart/mixed", "--undefined\r\n\r\none\r\n--undefined--")).toEqual([]);
  expect(bodies("text/plain; boundary=b", "--b\r\n\r\none\r\n--b--")).toEqual([]);
});

const encoded = (encoding: string, body: string, type = "text/plain") =>
  parseEntity(`Content-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}`);

test("a body is decoded as its header says, up to the limit, and a malformed octet stays as it is", () => {
  const lines = btoa("x".repeat(3_000)).replaceAll(/.{76}/g, "$&\r\n");
  for (const encoding of ["base64", "BASE64"])
    expect(decodedBody(encoded(encoding, lines), 1_000)).toBe("x".repeat(1_000));
  const quoted = encoded("Quoted-Printable", "=41=62".repeat(500));
  expect(decodedBody(quoted, 1_000)).toBe("Ab".repeat(500));
  expect(decodedBody(quoted, 10)).toBe("AbAbAbAbAb");
  expect(decodedBody(encoded("quoted-printable", "=4G=G4=\r\n=E=\r\nx=3d="), 100)).toBe("=4G=G4=Ex==");
  for (const encoding of ["7bit", "", "odd"]) expect(decodedBody(encoded(encoding, "=41"), 2)).toBe("=4");
});

test("a multipart is never encoded itself, whatever it says", () => {
  const isSaid = (encoding: string, type?: string) => isEncoded(encoded(encoding, "", type));
  expect(["base64", "Quoted-Printable", "8bit", ""].map((one) => isSaid(one))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(isSaid("base64", "multipart/mixed; boundary=b")).toBe(false);
});

test("a line is read as UTF-8 only if it is that, and if nobody has read it yet", () => {
  const octets = (text: string) => Buffer.from(text).toString("latin1");
  expect(fromUtf8(`${octets("用户")}\nunzul\u00e4ssig`)).toBe("用户\nunzul\u00e4ssig");
  expect(fromUtf8(`用户 ${octets("é")}`)).toBe(`用户 ${octets("é")}`);
});
