create or replace function format_verdict_id(v cache_verdicts) returns text
language sql
immutable
set search_path = model_proxy, pg_temp
as $$
    select v.source || '_' || encode(substr(sha256(v.context_hash || v.one_hash || v.other_hash), 1, 12), 'hex');
$$;

comment on function format_verdict_id(cache_verdicts) is 'A short name for a verdict, unique within a project.';
