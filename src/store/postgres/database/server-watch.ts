/**
 * Notices when transactions come to another server than before, or to one that was started anew. It may lack what was committed last:
 * a standby that was promoted without the primary's last transactions, or an earlier state that was put back. Then nothing may be
 * written that relies on what this process remembers of the database.
 */
export interface ServerWatch {
  /** To be called when a transaction begins; returns what judges, before its commit, the server that it has come to. */
  begin(): (server: string) => void;
  /** `forget` is called when the server is another: what was read before may not be there. */
  onOther(forget: () => void): void;
}

/** Nothing of the transaction is stored. Repeated, it relies on what has been read anew. */
export class OtherServer extends Error {}

export function createServerWatch(): ServerWatch {
  const listeners: (() => void)[] = [];
  let known: string | undefined;

  const noteOther = (server: string) => {
    known = server;
    for (const forget of listeners) forget();
  };
  return {
    begin() {
      const before = known;
      return (server) => {
        known ??= server;
        // One that has begun before another led elsewhere knows nothing newer than that: it has come to the former server.
        if (server !== known && server !== before) noteOther(server);
        if (server !== known || (before !== undefined && server !== before)) throw new OtherServer();
      };
    },
    onOther: (forget) => void listeners.push(forget),
  };
}
