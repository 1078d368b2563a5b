create or replace function record_usage(records json, sums json, spending json, batch uuid) returns timestamptz
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    perform set_config('synchronous_commit', 'off', true);
    insert into applied_batches (id) values (batch) on conflict do nothing;
    if not found then
        return clock_timestamp();
    end if;

    -- The proxy has summed these: a thousand records of a busy key become a few rows, which roll_up_usage() adds to the hourly sums.
    insert into usage_pending
    select *
    from json_populate_recordset(null::usage_pending, sums);

    -- In the same transaction, so that recorded and spent amounts agree. Costs without a reservation belong to projects that have got
    -- budgets meanwhile.
    if spending is not null then
        perform lock_spending(array(select distinct d.project_id from json_to_recordset(spending) as d (project_id bigint)));
        perform delete_superseded_records(array(select distinct d.id from json_to_recordset(spending) as d (id uuid) where d.id is not null));
        perform settle_spending(json_agg(d))
        from json_to_recordset(spending) as d (
            id uuid, project_id bigint, key_id bigint, model text, tags jsonb, usd numeric, tokens bigint, doubtful_usd numeric,
            doubtful_tokens bigint, at timestamptz
        )
        join projects p on p.id = d.project_id
        where d.id is not null
            or p.has_budgets
        having count(*) > 0;
    end if;

    with recorded as (
        insert into usage_records
        select * from json_populate_recordset(null::usage_records, records)
        returning key_id, recorded_at
    )
    -- At most once a minute per key, because a row that every batch updates would be a hot spot.
    update api_keys k
    set last_used_at = used.at
    from (select r.key_id, max(r.recorded_at) as at from recorded r group by r.key_id) used
    where k.id = used.key_id
        and (k.last_used_at is null or k.last_used_at < used.at - interval '1 minute');
    return clock_timestamp();
end;
$$;

comment on function record_usage(json, json, json, uuid) is 'Appends a batch of usage records, objects with the columns of usage_records, of which null ones may be omitted, and their sums, rows of usage_pending; settles spending by settle_spending(); updates when each key was last used. Idempotent by batch. Returns the time, so that a proxy can measure the error of its own clock. Null: spending (nothing).';
