import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { LARGE_BODY } from "../../core/email/large-body.ts";
import { DEFAULT_LIMITS } from "../app-deps.ts";
import { createBodyReader } from "./read-body.ts";
import { readJson } from "./read-json.ts";

const MAX_BYTES = 1024;
const RULE = { maxBytes: MAX_BYTES };
const CLIENT = { name: "acme", isAnonymous: false };

/** A body that comes in chunks, so that nobody knows its length before its end. */
function chunked(octets: number): Request {
  const text = `{}${" ".repeat(octets - 2)}`;
  const body = new Blob([text.slice(0, 10), text.slice(10)]).stream();
  return new Request("http://localhost/", { method: "POST", body });
}

/** One whose length is told before. */
function declared(octets: number): Request {
  const headers = { "Content-Length": String(octets) };
  return new Request("http://localhost/", { method: "POST", headers, body: `{}${" ".repeat(octets - 2)}` });
}

test("small bodies that have been read take up no room", async () => {
  // Room for two of an account at a time.
  const limits = { ...DEFAULT_LIMITS, maxBodyBytesInFlight: 36 * 1024 };
  const { read } = createBodyReader(createHeldClock(), limits);
  for (let index = 0; index < 10; index++)
    expect((await read(chunked(10), RULE, CLIENT)).text).toHaveLength(10);
  const many = await Promise.allSettled(
    Array.from({ length: 10 }, async () => read(chunked(10), RULE, CLIENT)),
  );
  expect(many.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
});

test.each([
  ["of unknown length", chunked],
  ["whose length is told before", declared],
])("a large body %s takes up room until its request has been answered", async (_, bodyOf) => {
  const size = 20 * 1024;
  const limits = { ...DEFAULT_LIMITS, maxBodyBytesInFlight: 48 * 1024 };
  const { read, release } = createBodyReader(createHeldClock(), limits);
  const readOne = async () => read(bodyOf(size), { maxBytes: size }, CLIENT);
  const held = await readOne();
  expect(await readOne().catch((error) => error)).toMatchObject({ status: 503 });
  release(held);
  expect(await readOne()).toMatchObject({ text: expect.stringMatching(/^{} +$/) });
});

test("a body of unknown length may be as long as the limit, and not an octet longer", async () => {
  const { read } = createBodyReader(createHeldClock(), DEFAULT_LIMITS);
  expect((await read(chunked(MAX_BYTES), RULE, CLIENT)).text).toHaveLength(MAX_BYTES);
  const refusal = await read(chunked(MAX_BYTES + 1), RULE, CLIENT).catch((error) => error);
  expect(refusal).toMatchObject({ status: 413 });
});

test("a large JSON body is parsed where no other has to wait for it, and is refused too if it is not UTF-8", async () => {
  const { read } = createBodyReader(createHeldClock(), DEFAULT_LIMITS, async (octets) => readJson(octets));
  const rule = { maxBytes: LARGE_BODY };
  const parsedOf = async (octets: number, isRaw = false) =>
    (await read(chunked(octets), { ...rule, isRaw }, CLIENT)).parsed;
  expect(await parsedOf(LARGE_BODY)).toBeDefined();
  expect(await parsedOf(LARGE_BODY - 1)).toBeUndefined();
  expect(await parsedOf(LARGE_BODY, true)).toBeUndefined();
  const body = new Uint8Array(LARGE_BODY).fill(0xff);
  const other = new Request("http://localhost/", { method: "POST", body });
  const refusal = await read(other, rule, CLIENT).catch((error) => error);
  expect(refusal).toMatchObject({ status: 400, more: { details: { body: "must be UTF-8" } } });
});
