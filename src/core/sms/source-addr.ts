/** Whether a sender fits a `source_addr` (SMPP 3.4 §5.2.8: 21 octets with the NUL), and has no blanks at its ends. */
export function fitsSourceAddr(text: string): boolean {
  return SOURCE_ADDR.test(text);
}

const SOURCE_ADDR = /^[!-~](?:[ -~]{0,18}[!-~])?$/;

/** The problem to report for a sender that does not fit. */
export const NOT_A_SOURCE_ADDR =
  "must be 1 to 20 printable ASCII characters, neither the first nor the last a blank";
