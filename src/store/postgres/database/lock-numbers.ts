/** Advisory locks, which PostgreSQL knows by number alone: two uses of one number would wait for each other. */
export const LOCKS = {
  /** One process at a time migrates. */
  migrating: 7_031_001,
  /** Shared by all transactions: while the schema changes none has tables that the next statement would wait for. */
  schema: 7_031_008,
  /** The tables of days are made and dropped. */
  days: 7_031_002,
  /** An account's counts are judged and raised. */
  counting: 7_031_003,
  /** One process at a time numbers events. */
  numbering: 7_031_004,
  /** One process at a time prunes messages. */
  pruning: 7_031_005,
  /** Turns of leases come one after the other. */
  leases: 7_031_006,
  /** An app's registrations change. */
  registering: 7_031_007,
  /** What may be the same inbound message, or parts of one, is taken. */
  inbound: 7_031_010,
  /** Ids and references that receipts are matched by. */
  matching: 7_031_011,
  /** Held by a transaction's server process until it is over. */
  running: 7_031_020,
} as const;
