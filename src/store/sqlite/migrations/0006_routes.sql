-- A route may be for one sender and for one category of messages, and its connectors may share by weight.
ALTER TABLE routes ADD COLUMN sender TEXT;
ALTER TABLE routes ADD COLUMN category TEXT;
ALTER TABLE routes ADD COLUMN weights TEXT;
ALTER TABLE routes ADD COLUMN failover TEXT;
