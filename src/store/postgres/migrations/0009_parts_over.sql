-- The connector that a part came over. `connector_id` names the message, and may be that of another connector of the same account at
-- the provider. NULL: it came over that one, for all that is known.

ALTER TABLE inbound_parts ADD COLUMN came_over text;
