-- The index by connector and id does for both. Where the planner has found no parked receipt when it looked, it takes the two to be as
-- good, and read all receipts of a connector for each id.

DROP INDEX parked_receipts_of_connector;
