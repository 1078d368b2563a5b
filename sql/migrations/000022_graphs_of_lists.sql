-- The graph of a large group becomes an index of lists in place of HNSW; those that are there are replaced by upkeep, one a minute.
-- Only find_answer() and store_answers() called these, and both come anew with this deploy.
drop function if exists find_in_cache_graph(bigint, bigint, bytea, bytea, integer, halfvec, double precision, timestamptz);
drop function if exists add_to_cache_graph(bigint, integer, bigint, halfvec);
