/** Asks the SMSC what became of messages whose receipts have not come (query_sm, SMPP 3.4 §4.8). */
import type { Clock } from "../../../../core/clock.ts";
import type { Receipt } from "../../../../core/messages/outcome.ts";
import { unlessAborted } from "../../../../core/work/unless-aborted.ts";
import type { QueriedPart } from "../../../channel.ts";
import type { SubmitLine } from "../submit/submit-line.ts";
import { canonicalId, type IdFormat } from "../wire/message-id.ts";
import { type Address, COMMAND, decodeQueryAnswer, encodeQuery } from "../wire/pdu.ts";
import { STATUS_OK } from "../wire/status-words.ts";
import { readState } from "./receipt.ts";

export interface Inquirer {
  readonly connectorId: string;
  readonly clock: Clock;
  readonly line: SubmitLine;
  readonly idFormat: IdFormat;
  /** How long each question may wait for its turn. */
  readonly patienceMs: number;
  /** The source address that the message was sent with: an SMSC may insist on it. */
  readonly sourceOf: (part: QueriedPart) => Address | undefined;
}

/** Asks about one part after another, each question in line with the submit_sm. Leaves out parts without a final answer. */
export async function queryParts(
  inquirer: Inquirer,
  parts: readonly QueriedPart[],
  signal: AbortSignal,
): Promise<readonly Receipt[]> {
  const receipts: Receipt[] = [];
  for (const part of parts) {
    const session = await inquirer.line.take({ waitMs: inquirer.patienceMs, signal });
    if (!session) break;
    const source = inquirer.sourceOf(part) ?? { ton: 0, npi: 0, address: "" };
    const body = encodeQuery({ messageId: part.providerMessageId, source });
    const asking = session.ask(COMMAND.querySm, body).finally(session.slots.giveBack);
    const answer = await unlessAborted(asking, signal);
    if (answer?.kind !== "answered" || answer.pdu.status !== STATUS_OK) continue;
    const receipt = toReceipt(inquirer, part, answer.pdu.body);
    if (receipt && receipt.status !== "sent") receipts.push(receipt);
  }
  return receipts;
}

/** Makes a receipt of an answer. Its id is that of the question: some SMSCs omit it in the answer, or write it differently. */
function toReceipt(
  { connectorId, clock, idFormat }: Inquirer,
  part: QueriedPart,
  body: Buffer,
): Receipt | undefined {
  const found = decodeQueryAnswer(body);
  const verdict = found && readState(found.state, found.errorCode);
  return (
    verdict && {
      connectorId,
      providerMessageId: canonicalId(part.providerMessageId, idFormat, "response"),
      receivedAt: clock.now(),
      raw: `query_sm message_state=${found.state} error_code=${found.errorCode}`,
      ...verdict,
    }
  );
}
