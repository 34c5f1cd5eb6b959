-- Which process has claimed a job: when it is buried, what it holds is taken up at once.

ALTER TABLE jobs ADD COLUMN holder text COLLATE "C";
