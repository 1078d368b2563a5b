-- The values that admission checks, and a version of everything else that it returns about a key. It costs a fraction of resolved_keys.

create or replace view key_limits as
select
    k.key_hash,
    k.type as key_type,
    k.project_id,
    case
        when k.deactivated_at is not null then 'disabled'
        when k.expires_at <= now() then 'expired'
        else 'active'
    end as verdict,
    case k.type when 'test' then pl.test_requests_per_month else pl.requests_per_month end as requests_per_month,
    -- While at most this much of the month's quota is left, counting waits for the disk: a crash must not lose a minute's requests of a
    -- key.
    least(10000, case k.type when 'test' then pl.test_requests_per_minute else pl.requests_per_minute_per_key end) as counted_durably,
    -- The transactions that last wrote the rows that resolved_keys reads; the verdict, which changes with time; and the project's provider
    -- keys, whose versions only grow, so that the highest version and the number of keys identify every set.
    concat_ws(
        ' ', k.xmin, p.xmin, pl.xmin,
        case when k.expires_at <= now() then 'expired' end,
        (select concat_ws('/', max(pk.version), count(*)) from provider_keys pk where pk.project_id = k.project_id)
    ) as key_version
from api_keys k
join projects p on p.id = k.project_id
join plans pl on pl.name = p.plan;

comment on view key_limits is 'Every key that was ever issued: whether it is valid now, its monthly quota, and the version of its row in resolved_keys.';
comment on column key_limits.counted_durably is 'The number of requests before the end of the quota that are on disk before they are admitted.';
comment on column key_limits.key_version is 'Changes whenever the key''s row in resolved_keys may have changed.';
