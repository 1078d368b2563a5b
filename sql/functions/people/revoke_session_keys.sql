create or replace function revoke_session_keys() returns trigger
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    update api_keys k
    set deactivated_at = now()
    where k.session_id in (select g.id from gone g)
        and k.deactivated_at is null;
    return null;
end;
$$;

comment on function revoke_session_keys() is 'Deactivates the keys of sessions that have ended.';
