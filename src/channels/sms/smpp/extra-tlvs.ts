/** TLVs that an operator wants on every submit_sm, with values of its own. */
import Type, { type Static } from "typebox";
import type { Tlvs } from "./wire/octets.ts";

const MAX_OCTETS = 255;

const extraTlvSchema = Type.Object({
  tag: Type.Integer({ minimum: 0x0001, maximum: 0xffff }),
  text: Type.Optional(
    Type.String({ minLength: 1, maxLength: MAX_OCTETS, pattern: "^[\\x20-\\x7e]*$", examples: ["ACME"] }),
  ),
  hex: Type.Optional(
    Type.String({ pattern: `^([0-9a-fA-F]{2}){0,${MAX_OCTETS}}$`, examples: ["01", "41434d4500"] }),
  ),
  integer: Type.Optional(Type.Integer({ minimum: 0, maximum: 0xffffffff })),
  octets: Type.Optional(Type.Integer({ minimum: 1, maximum: 4 })),
});

export const EXTRA_TLVS = Type.Array(extraTlvSchema, {
  default: [],
  maxItems: 10,
  description:
    "Further TLVs of each submit_sm: each with `tag` and one of `text` (ASCII), `hex`, or `integer` with its size in " +
    '`octets`, for example [{"tag":5123,"text":"ACME"}]',
});

export type ExtraTlv = Static<typeof extraTlvSchema>;

export function extraTlvs(extra: readonly ExtraTlv[]): Tlvs {
  return new Map(extra.map((each) => [each.tag, octetsOf(each)]));
}

function octetsOf({ text, hex = "", integer, octets = 1 }: ExtraTlv): Uint8Array {
  if (text !== undefined) return Buffer.from(text, "latin1");
  if (integer === undefined) return Buffer.from(hex, "hex");
  const value = Buffer.alloc(octets);
  value.writeUIntBE(integer, 0, octets);
  return value;
}

/** What the schema cannot say, by entry. `own`: the tags that are sent for other reasons, or may be. */
export function extraTlvProblems(
  extra: readonly ExtraTlv[],
  own: readonly number[],
): Readonly<Record<string, string>> {
  const tags = extra.map(({ tag }) => tag);
  const found = extra.flatMap((each, index): [string, string][] => {
    const at = `extra_tlvs.${index}`;
    if (own.includes(each.tag)) return [[`${at}.tag`, "must be a tag that no other setting or text uses"]];
    if (tags.indexOf(each.tag) < index) return [[`${at}.tag`, "must not be that of an earlier one"]];
    const problem = valueProblem(each);
    return problem === undefined ? [] : [[at, problem]];
  });
  return Object.fromEntries(found);
}

function valueProblem({ text, hex, integer, octets }: ExtraTlv): string | undefined {
  if ([text, hex, integer].filter((value) => value !== undefined).length !== 1)
    return "must have one of text, hex and integer";
  if ((integer === undefined) !== (octets === undefined))
    return "must have octets, the size of the value, with integer only";
  return integer !== undefined && octets !== undefined && integer >= 256 ** octets
    ? `must have an integer that fits ${octets === 1 ? "one octet" : `${octets} octets`}`
    : undefined;
}
