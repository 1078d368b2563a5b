-- Vectors of a purged generation are kept out: store_vectors() is told the generation, under a signature of its own.

drop function if exists store_vectors(bigint, bytea, bytea, integer[], integer[], text[], integer, boolean);

-- squawk-ignore-file
alter table plans
    add column concurrent_requests integer not null default 1000
        check (concurrent_requests > 0);
update plans set concurrent_requests = 400 where name = 'free';
update plans set concurrent_requests = 5000 where name = 'enterprise';

comment on column plans.concurrent_requests is 'Most requests of one key that are under way at the same time in one process of the proxy.';
