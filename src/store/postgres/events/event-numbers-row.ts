/** The last page but one: the version that a numbering writes is on the last one, or another numbering has just begun the next. */
const FROM_PAGE = `(SELECT format('(%s,0)',
    greatest(pg_relation_size('event_numbers') / current_setting('block_size')::bigint - 2, 0))::tid)`;

/**
 * Where the one row of `event_numbers` lies (its `ctid`). Each numbering writes a version of it, and a transaction that stays open on the
 * server keeps them all. The last one is at the end of the table then, so that is looked at first, and everything only if it is not there.
 */
export const NUMBERS_ROW = `coalesce((SELECT ctid FROM event_numbers WHERE ctid >= ${FROM_PAGE}), (SELECT ctid FROM event_numbers))`;
