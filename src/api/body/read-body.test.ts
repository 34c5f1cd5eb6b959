import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { DEFAULT_LIMITS } from "../app-deps.ts";
import { createBodyReader } from "./read-body.ts";

const MAX_BYTES = 1024;

/** A body that comes in chunks, so that nobody knows its length before its end. */
function chunked(octets: number): Request {
  const text = `{}${" ".repeat(octets - 2)}`;
  const body = new Blob([text.slice(0, 10), text.slice(10)]).stream();
  return new Request("http://localhost/", { method: "POST", body });
}

test("a body of unknown length may be as long as the limit, and not an octet longer", async () => {
  const { read } = createBodyReader(createHeldClock(), DEFAULT_LIMITS);
  const client = { name: "acme", isAnonymous: false };
  expect(await read(chunked(MAX_BYTES), MAX_BYTES, client)).toHaveLength(MAX_BYTES);
  const refusal = await read(chunked(MAX_BYTES + 1), MAX_BYTES, client).catch((error) => error);
  expect(refusal).toMatchObject({ status: 413 });
});
