/** Lifts, for one transaction, the limit that an administrator may set from PostgreSQL 17 on. On older servers it does nothing. */
export const NO_TRANSACTION_TIMEOUT =
  "SELECT set_config(name, '0', true) FROM pg_settings WHERE name = 'transaction_timeout'";
