create or replace function record_usage(records json) returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
    perform set_config('synchronous_commit', 'off', true);

    insert into usage_records
    select r.*
    from json_populate_recordset(null::usage_records, records) r;

    -- Once a minute a key is enough; a row that every batch wrote would be a hot spot.
    update api_keys k
    set last_used_at = used.at
    from (
        select r.key_id, max(r.recorded_at) as at
        from json_populate_recordset(null::usage_records, records) r
        group by r.key_id
    ) used
    where k.id = used.key_id
        and (k.last_used_at is null or k.last_used_at < used.at - interval '1 minute');
end;
$$;

comment on function record_usage(json) is 'Appends a batch of usage records, an array of objects with the columns of usage_records, and notes when each key was last used.';
