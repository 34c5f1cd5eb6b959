-- Who is there, and which places at connectors each of them has.

CREATE SEQUENCE lease_turns;

CREATE TABLE lease_processes (
  id text COLLATE "C" PRIMARY KEY,
  turn bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE leases (
  name text COLLATE "C" NOT NULL,
  slot integer NOT NULL,
  process text COLLATE "C" NOT NULL REFERENCES lease_processes (id) ON DELETE CASCADE,
  is_up boolean NOT NULL DEFAULT false,
  PRIMARY KEY (name, slot)
);

CREATE INDEX leases_of_process ON leases (process);
