-- A token may be longer than an entry of an index. That a token is there once, the lock of its app sees to.

CREATE INDEX registrations_by_token_hash ON registrations (app_id, hashtextextended(token, 0)) WHERE token IS NOT NULL;

DROP INDEX registrations_by_token;
