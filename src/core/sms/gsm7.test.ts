import { expect, test } from "bun:test";
import { decodeGsm7, encodeGsm7, gsm7Length } from "./gsm7.ts";

const hex = (octets: Uint8Array) => Buffer.from(octets).toString("hex");

test("the codes are those of the standard's table, corner by corner", () => {
  expect(hex(encodeGsm7("@£$¥èéùìòÇ\nØø\rÅå"))).toBe("000102030405060708090a0b0c0d0e0f");
  expect(hex(encodeGsm7("Δ_ΦΓΛΩΠΨΣΘΞ"))).toBe("101112131415161718191a");
  expect(hex(encodeGsm7("ÆæßÉ !\"#¤%&'"))).toBe("1c1d1e1f2021222324252627");
  expect(hex(encodeGsm7("09:?¡AZÄÖÑÜ§¿azäöñüà"))).toBe("30393a3f40415a5b5c5d5e5f60617a7b7c7d7e7f");
});

test("an extension character is an escape and a code, and counts two", () => {
  expect(hex(encodeGsm7("\f^{}\\[~]|€"))).toBe("1b0a1b141b281b291b2f1b3c1b3d1b3e1b401b65");
  expect(gsm7Length("€")).toBe(2);
  expect(gsm7Length("a€b")).toBe(4);
});

test.each(["₹", "`", "’", "“", "–", "…", "ç", "á", "\t", "µ", "न", "😀", "\u001b"])(
  "%p is not in GSM-7",
  (character) => {
    expect(gsm7Length(`x${character}`)).toBeUndefined();
  },
);

test("every character survives the way there and back", () => {
  let text = "";
  for (let unit = 0; unit < 0x10000; unit++) {
    if (gsm7Length(String.fromCharCode(unit)) !== undefined) text += String.fromCharCode(unit);
  }
  expect(text.length).toBe(127 + 10);
  expect(decodeGsm7(encodeGsm7(text))).toBe(text);
});

test("a cut or unknown escape sequence is read without harm", () => {
  expect(decodeGsm7(Uint8Array.of(0x41, 0x1b))).toBe("A");
  expect(decodeGsm7(Uint8Array.of(0x1b, 0x41))).toBe("A");
  expect(decodeGsm7(Uint8Array.of(0x1b, 0x1b))).toBe(" ");
});
