create or replace function store_turns(turns json) returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    insert into stored_turns as s (project_id, key_id, name, made_by, digest, extras, end_user, expires_at)
    -- The last of a batch counts, because an upsert may change a row only once.
    select distinct on (t.project_id, t.key_id, t.name, t.made_by)
        t.project_id, t.key_id, t.name, t.made_by, t.digest, t.extras, t.end_user, now() + interval '7 days'
    from json_array_elements(turns) with ordinality as e (turn, position)
    cross join lateral json_populate_record(null::stored_turns, e.turn) t
    -- Omits turns of keys that were deleted or deactivated meanwhile.
    join api_keys k on k.id = t.key_id and k.project_id = t.project_id and k.deactivated_at is null
    order by t.project_id, t.key_id, t.name, t.made_by, e.position desc
    on conflict (project_id, key_id, name, made_by) do update
    set digest = excluded.digest,
        extras = excluded.extras,
        end_user = excluded.end_user,
        expires_at = excluded.expires_at
    -- A repeated hit is written at most once a day.
    where s.digest <> excluded.digest
        or s.expires_at < now() + interval '6 days';
$$;

comment on function store_turns(json) is 'Stores the provider extras of assistant messages with tool calls for a week: objects with the columns of stored_turns.';
