-- Vectors of a purged generation are kept out: store_vectors() is told the generation, under a signature of its own.

drop function if exists store_vectors(bigint, bytea, bytea, integer[], integer[], text[], integer, boolean);
