import { expect, test } from "bun:test";
import { spellingsOfNumber } from "./number-spellings.ts";

const NUMBER = "+14155559876";
const marked = (text: string) => text.replaceAll(spellingsOfNumber(NUMBER), "#");

test.each([
  "+14155559876",
  "14155559876",
  "0014155559876",
  "415-555-9876",
  "555 9876",
  "0415 5559876",
  "1/415/555.9876",
])("%s is found", (written) => {
  expect(marked(`to ${written}, code 5`)).toBe("to #, code 5");
});

test("in a URL it is found behind an encoded character", () => {
  expect(marked("to=%2B1%20415%20555%209876&k=1")).toBe("to=%2B#&k=1");
});

test.each(["5559877", "141555598761", "914155559876", "4155 559876 0", "555 987"])(
  "%s is another",
  (written) => {
    expect(marked(`to ${written}`)).not.toBe("to #");
  },
);
