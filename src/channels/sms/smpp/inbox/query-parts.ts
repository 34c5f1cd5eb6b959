/** Asks the SMSC what became of messages whose receipts have not come (query_sm, SMPP 3.4 §4.8). */
import type { Receipt } from "../../../../core/messages/outcome.ts";
import { unlessAborted } from "../../../../core/work/unless-aborted.ts";
import type { QueriedPart } from "../../../channel.ts";
import { addressOf } from "../submit/addresses.ts";
import type { Submitter } from "../submit/submitter.ts";
import { canonicalId } from "../wire/message-id.ts";
import { COMMAND, decodeQueryAnswer, encodeQuery } from "../wire/pdu.ts";
import { STATUS_OK } from "../wire/status-words.ts";
import { readState } from "./receipt.ts";

/** Asks about one part after another, each question in line with the submit_sm. Leaves out parts without a final answer. */
export async function queryParts(
  { connectorId, clock, settings, line }: Pick<Submitter, "connectorId" | "clock" | "settings" | "line">,
  parts: readonly QueriedPart[],
  signal: AbortSignal,
): Promise<readonly Receipt[]> {
  const config = settings.config();
  const receipts: Receipt[] = [];
  for (const { providerMessageId: messageId, from } of parts) {
    const session = await line.take({ waitMs: config.response_timeout_ms, signal });
    if (!session) break;
    // As the message was sent with: an SMSC may insist on it.
    const source = addressOf(from ?? config.source_addr, config) ?? { ton: 0, npi: 0, address: "" };
    const body = encodeQuery({ messageId, source });
    const asking = session.ask(COMMAND.querySm, body).finally(session.slots.giveBack);
    const answer = await unlessAborted(asking, signal);
    if (answer?.kind !== "answered" || answer.pdu.status !== STATUS_OK) continue;
    const found = readAnswer(answer.pdu.body);
    if (!found || found.status === "sent") continue;
    // The id of the question: some SMSCs omit it in the answer, or write it differently.
    const providerMessageId = canonicalId(messageId, config.id_format, "response");
    receipts.push({ connectorId, providerMessageId, receivedAt: clock.now(), ...found });
  }
  return receipts;
}

function readAnswer(body: Buffer): Pick<Receipt, "raw" | "status" | "error"> | undefined {
  const answer = decodeQueryAnswer(body);
  const verdict = answer && readState(answer.state, answer.errorCode);
  return (
    verdict && { raw: `query_sm message_state=${answer.state} error_code=${answer.errorCode}`, ...verdict }
  );
}
