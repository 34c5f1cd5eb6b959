-- Lets an operator publish all tables, as tools that capture changes or upgrade a server do (CREATE PUBLICATION … FOR ALL TABLES). PostgreSQL
-- refuses to change rows of a published table that has no primary key, unless it is told to name them by all that they hold.

ALTER TABLE event_numbers REPLICA IDENTITY FULL;
ALTER TABLE settings REPLICA IDENTITY FULL;
