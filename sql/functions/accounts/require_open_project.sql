create or replace function require_open_project(of_project bigint) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    -- The lock delays a concurrent archiving until the caller's key exists, so that it is deactivated, too. A weaker one would deadlock with a budget of the key.
    perform from projects p where p.id = of_project and p.archived_at is null for no key update;
    if not found then
        raise exception 'project % is archived', quote_for_message(find_project_name(of_project))
            using errcode = 'object_not_in_prerequisite_state';
    end if;
end;
$$;

comment on function require_open_project(bigint) is 'Raises for an archived project, which an active key would reopen. Call it before a key is locked.';
