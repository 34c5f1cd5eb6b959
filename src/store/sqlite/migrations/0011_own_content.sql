-- A request of one message has its content in the row of the message: `content` is 0 then. What several messages share,
-- and what is long, is in `contents`, and so is everything older.
ALTER TABLE messages ADD COLUMN envelope TEXT;
ALTER TABLE messages ADD COLUMN body TEXT;
