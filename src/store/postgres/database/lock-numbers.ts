/** Numbers of advisory locks: PostgreSQL knows them by number alone, so no two uses may have the same one. */
export const LOCKS = {
  /** One process at a time migrates. */
  migrating: 7_031_001,
  /** Shared by all transactions, and taken alone by a migration: so no transaction holds a table that it needs. */
  schema: 7_031_008,
  /** One process at a time restores, or moves SQLite, into a schema. A second number stands for the schema. */
  filling: 7_031_009,
  /** One transaction at a time makes or drops tables of days. */
  days: 7_031_002,
  /** One transaction at a time checks and raises an account's usage counts. */
  counting: 7_031_003,
  /** One process at a time numbers events. */
  numbering: 7_031_004,
  /** One process at a time prunes messages. */
  pruning: 7_031_005,
  /** One process at a time makes its heartbeat. */
  leases: 7_031_006,
  /** Shared by transactions that change an app's registrations. */
  registering: 7_031_007,
  /** Devices and tokens that are being registered. */
  devices: 7_031_014,
  /** One transaction at a time takes what may be the same inbound message, or parts of one. */
  inbound: 7_031_010,
  /** Ids and references that receipts are matched by. */
  matching: 7_031_011,
  /** Held by processes at work on the database, with a second number that is the same for a copy of it. */
  working: 7_031_012,
  /** Shared by transactions that put recipients on the lists of opt-outs and suppressions; an erasure from these takes it alone. */
  listing: 7_031_013,
  /** Held by each transaction, with the number of its server process, until it ends. */
  running: 7_031_020,
} as const;
