type Acknowledge = (status: number) => void;

/** What the SMSC has delivered on a session and we have not acknowledged yet. */
export interface Unacknowledged {
  /** Adds a delivery. Returns the function to acknowledge it with, which also removes it. */
  add(acknowledge: Acknowledge): Acknowledge;
  /** Resolves as soon as everything is acknowledged. Meant to be called a few times only, at the end of a session. */
  whenNone(): Promise<void>;
}

export function createUnacknowledged(): Unacknowledged {
  let count = 0;
  const listeners: (() => void)[] = [];
  return {
    add(acknowledge) {
      count++;
      return (status) => {
        acknowledge(status);
        count--;
        if (count === 0) for (const tell of listeners) tell();
      };
    },
    whenNone: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => listeners.push(resolve))),
  };
}
