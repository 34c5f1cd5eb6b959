import { expect, test } from "bun:test";
import { dropShownNames } from "./drop-shown-names.ts";

const SOURCE = [
  "From: Asha Rao <a@acme.test>",
  'To: "Rao, Asha" <Asha@X.test>, Ravi <ravi@x.test>,',
  ' =?UTF-8?Q?=C3=84sha?= <asha@x.test>, "b <c" <b@x.test>, asha@x.test',
  "Cc: Asha",
  " Rao <asha@x.test>",
  "Subject: To: Asha <asha@x.test>",
  "",
  "To: Asha <asha@x.test>",
].join("\r\n");

test("the names that belonged to the address go, from the fields and from the source, and no others", () => {
  const rendered = {
    from: { email: "a@acme.test", name: "Asha Rao" },
    to: [{ email: "Asha@X.test", name: "Rao, Asha" }, { email: "ravi@x.test", name: "Ravi" }, null],
    cc: [{ email: "asha@x.test", name: "Asha Rao" }],
    subject: "To: Asha <asha@x.test>",
    source: SOURCE,
  };
  const { source, ...fields } = JSON.parse(dropShownNames(JSON.stringify(rendered), "asha@x.test"));
  const { source: _, ...before } = rendered;
  expect(fields).toEqual({
    ...before,
    to: [{ email: "Asha@X.test" }, { email: "ravi@x.test", name: "Ravi" }, null],
    cc: [{ email: "asha@x.test" }],
  });
  expect(source.split("\r\n")).toEqual([
    "From: Asha Rao <a@acme.test>",
    "To: <Asha@X.test>, Ravi <ravi@x.test>,",
    ' <asha@x.test>, "b <c" <b@x.test>, asha@x.test',
    "Cc: <asha@x.test>",
    "Subject: To: Asha <asha@x.test>",
    "",
    "To: Asha <asha@x.test>",
  ]);
});

test("an international address is known in either form, and what has no recipients is left as it is", () => {
  const rendered = {
    to: [{ email: "a@bücher.example", name: "Ann" }],
    source: "To: Ann <a@xn--bcher-kva.example>",
  };
  expect(JSON.parse(dropShownNames(JSON.stringify(rendered), "a@bücher.example"))).toEqual({
    to: [{ email: "a@bücher.example" }],
    source: "To: <a@xn--bcher-kva.example>",
  });
  expect(dropShownNames('{"text":"hi"}', "a@x.test")).toBe('{"text":"hi"}');
});
