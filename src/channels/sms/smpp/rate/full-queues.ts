/**
 * Whose queue is full when an SMSC answers ESME_RMSGQFUL: its own, or that of one recipient, whose handset has been off for long.
 * Only the first is a reason to send more slowly. Among the recipients of a campaign there are always some of the second kind: if
 * each of them halved the rate, little would be left of it.
 */
export interface FullQueues {
  /** To be called when a segment to this number was refused. Returns whether the queue seems to be the SMSC's own. */
  refused(to: string): boolean;
  /** To be called when a segment to this number was taken. */
  taken(to: string): void;
}

/** So many recipients one after the other, all of whose queues have just become full, are no coincidence. */
const RECIPIENTS_IN_A_ROW = 3;

/** So many refusals with nothing taken between them are none either, even if all these recipients had been refused before. */
const REFUSALS_IN_A_ROW = 20;

/** How many recipients are remembered as refused. The oldest are forgotten first. */
const MAX_REMEMBERED = 5_000;

export function createFullQueues(): FullQueues {
  const known = new Set<string>();
  let recipients = 0;
  let refusals = 0;
  return {
    refused(to) {
      refusals++;
      if (!known.has(to)) {
        recipients++;
        known.add(to);
        const [oldest] = known;
        if (known.size > MAX_REMEMBERED && oldest !== undefined) known.delete(oldest);
      }
      return recipients >= RECIPIENTS_IN_A_ROW || refusals >= REFUSALS_IN_A_ROW;
    },
    taken(to) {
      recipients = 0;
      refusals = 0;
      known.delete(to);
    },
  };
}
