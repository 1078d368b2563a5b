create or replace function forget_end_user(project text, of_user text, dry_run boolean default true) returns setof end_user_data
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id constant bigint := require_project_role(project, 'owner');
    found_data constant end_user_data[] := array(select f from find_end_user(project, of_user) f);
begin
    if not dry_run then
        -- As in invalidate_cache(): invalidates copies, and rejects responses that are being stored.
        update projects p set cache_generation = p.cache_generation + 1 where p.id = owner_id;
        perform audit(
            'end_user.forgotten', owner_id, 'proj_' || owner_id,
            -- Omits the end user and any hash of the name, which can be guessed, because the log outlives the deleted data.
            coalesce((select jsonb_object_agg(f.id, f.items) from unnest(found_data) f), '{}')
        );
    end if;
    return query select * from unnest(found_data);
end;
$$;

comment on function forget_end_user(text, text, boolean) is 'Begins to forget an end user (in the form of name_end_user()) of a project, and returns the stored items as find_end_user() does; dry_run only returns them. From then on, no response cached before for the end user is served from a copy; forget_end_user_items() then deletes the items. Requires an owner of the project.';
