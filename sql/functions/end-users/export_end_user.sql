create or replace function export_end_user(project text, of_user text) returns setof end_user_data
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    found_data constant end_user_data[] := array(select f from find_end_user(project, of_user) f);
    owner_id constant bigint := find_project(project);
begin
    perform audit(
        'end_user.exported', owner_id, 'proj_' || owner_id,
        coalesce((select jsonb_object_agg(f.id, f.items) from unnest(found_data) f), '{}')
    );
    return query select * from unnest(found_data);
end;
$$;

comment on function export_end_user(text, text) is 'Starts the export of an end user: returns what find_end_user() does, and records in the audit log that an end user was exported, without the name. list_end_user_items() reads the items.';
