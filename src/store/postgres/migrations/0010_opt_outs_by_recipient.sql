-- Finds the opt-outs of one number, whatever their senders, among all of an account.

CREATE INDEX opt_outs_by_recipient ON opt_outs (account_id, recipient);
