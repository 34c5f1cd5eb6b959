type Acknowledge = (status: number) => void;

/** What the SMSC has delivered on a session and has not been answered yet. */
export interface Unacknowledged {
  /** Adds one, until its acknowledgement, which is to be sent by the function returned. */
  add(acknowledge: Acknowledge): Acknowledge;
  /** Resolves as soon as all is acknowledged. To be asked a few times in the life of a session: its end. */
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
