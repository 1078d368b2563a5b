create or replace function usage_names(end_user text, provider text, provider_keys text, tags jsonb) returns table (kind text, name text)
language sql
immutable
parallel safe
-- Without settings, the function is inlined into the calling query.
as $$
    select 'end_user', end_user where end_user is not null
    union all
    select 'provider_key', k.name from (select name_provider_key(provider, provider_keys)) k (name) where k.name is not null
    union all
    select 'tag', t.name || '=' || t.value from jsonb_each_text(tags) t (name, value);
$$;

comment on function usage_names(text, text, text, jsonb) is 'The names by which usage_sums_by_name sums up a record: its end user, its provider key, and each of its tags. Null: end_user, provider, provider_keys, tags (none).';
