-- What admission decides by, and whether what else it returns about a key has changed: a fraction of what resolved_keys costs.

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
    -- While no more than this is left of the month, counting waits for the disk: a crash must not forget what a key asks for in a minute.
    least(10000, case k.type when 'test' then pl.test_requests_per_minute else pl.requests_per_minute_per_key end) as counted_durably,
    -- The transactions that last wrote each row that resolved_keys reads, the verdict, which time alone changes, and the stored keys of
    -- providers: their versions only grow, so that the highest and their number tell every set apart.
    concat_ws(
        ' ', k.xmin, p.xmin, pl.xmin,
        case when k.expires_at <= now() then 'expired' end,
        (select concat_ws('/', max(pk.version), count(*)) from provider_keys pk where pk.project_id = k.project_id)
    ) as key_version
from api_keys k
join projects p on p.id = k.project_id
join plans pl on pl.name = p.plan;

comment on view key_limits is 'Every key that was ever issued: whether it is valid now, the quota of its month, and the version of its account.';
comment on column key_limits.key_hash is 'SHA-256 of the whole key.';
comment on column key_limits.key_type is 'project or test.';
comment on column key_limits.project_id is 'The one project that the key opens.';
comment on column key_limits.verdict is 'active, expired or disabled, as of now.';
comment on column key_limits.requests_per_month is 'The plan''s quota for all keys of this type together.';
comment on column key_limits.counted_durably is 'How many requests before the quota''s end each is on disk before it is admitted.';
comment on column key_limits.key_version is 'Another one whenever resolved_keys may say something else of the key.';
