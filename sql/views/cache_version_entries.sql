-- The versions that requests have named in X-Proxy-Cache-Version, for operators with psql.

create or replace view cache_version_entries with (security_invoker = true) as
select
    v.project_id,
    p.name as project,
    v.test,
    v.namespace,
    v.name,
    v.version,
    case when v.superseded_at is null then 'newest' when v.purged then 'old' else 'being purged' end as state,
    count(e.id) as entries,
    coalesce(sum(e.bytes), 0)::bigint as bytes,
    v.first_named_at,
    v.last_named_at,
    v.superseded_at
from cache_versions v
join projects p on p.id = v.project_id
left join cache_entries e on e.version_id = v.id
group by v.id, p.name;

comment on view cache_version_entries is 'The versions of each project, and the cached responses that are stored under each.';
comment on column cache_version_entries.project is 'Its name.';
comment on column cache_version_entries.test is 'Whether test keys named the version.';
comment on column cache_version_entries.namespace is 'The namespace of the requests.';
comment on column cache_version_entries.state is 'newest: its responses are stored and served. being purged, old: they are being deleted, or are; requests that name it get responses of the provider.';
comment on column cache_version_entries.entries is 'The number of cached responses.';
comment on column cache_version_entries.bytes is 'Their share of the project''s cache_bytes.';
comment on column cache_version_entries.last_named_at is 'When a request last named it, to within a day.';
comment on column cache_version_entries.superseded_at is 'When a newer version was first named. Null: it is the newest.';
