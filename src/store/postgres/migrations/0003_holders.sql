-- Which process has claimed it: when that is buried, what it holds is taken up at once.

ALTER TABLE jobs ADD COLUMN holder text COLLATE "C";

ALTER TABLE webhooks ADD COLUMN holder text COLLATE "C";
