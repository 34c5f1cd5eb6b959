const lift = (isLocal: boolean) =>
  `SELECT set_config(name, '0', ${isLocal}) FROM pg_settings WHERE name = 'transaction_timeout'`;

/** Lifts, for one transaction, the limit that an administrator may set from PostgreSQL 17 on. On older servers it does nothing. */
export const NO_TRANSACTION_TIMEOUT = lift(true);

/** The same for all transactions of a session, and for statements outside of one, which the limit ends too. */
export const NO_TRANSACTION_TIMEOUTS = lift(false);
