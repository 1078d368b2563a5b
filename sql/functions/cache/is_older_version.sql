create or replace function is_older_version(version text, newest text) returns boolean
language sql
immutable
set search_path = model_proxy, pg_temp
as $$
    select case
        when version ~ '^\d+(\.\d+)*$' and newest ~ '^\d+(\.\d+)*$'
            then string_to_array(version, '.')::numeric[] < string_to_array(newest, '.')::numeric[]
        else false
    end;
$$;

comment on function is_older_version(text, text) is 'Whether a version that is named for the first time is older than the newest: by the numbers between their dots, if both consist of such numbers; else the one that is named later is newer.';
