-- A key's minute, counted here while a process cannot reach Redis.

-- step: locked
lock table api_keys in access exclusive mode;

alter table api_keys add column minute_counted_until timestamptz;

comment on column api_keys.minute_counted_until is 'Until then the key''s requests a minute are also counted in minute_counts, because a process admits some without Redis; null: never yet.';

create unlogged table minute_counts (
    project_id bigint not null,
    key_id bigint not null,
    second bigint not null,
    alone integer not null default 0,
    in_redis integer not null default 0,
    recorded integer not null default 0,
    primary key (project_id, key_id, second)
);

comment on table minute_counts is 'Requests by the second, of keys that a process without Redis admits: see count_minute(). Unlogged: a minute need not outlive a crash.';
comment on column minute_counts.project_id is 'The project.';
comment on column minute_counts.key_id is 'The key.';
comment on column minute_counts.second is 'Seconds since the epoch, by the clock of Redis.';
comment on column minute_counts.alone is 'Admitted by processes without Redis.';
comment on column minute_counts.in_redis is 'Counted in Redis, as the others last saw it.';
comment on column minute_counts.recorded is 'Recorded when the first process lost Redis: what is known of the others until they say.';
