create or replace function forget_kept_object(of_project bigint, object_id text) returns void
language sql
volatile
set search_path = public, pg_temp
as $$
    delete from kept_objects k
    where k.project_id = of_project
        and k.id = object_id;
$$;

comment on function forget_kept_object(bigint, text) is 'Deletes the record of an object that its provider no longer has.';
