create or replace function delete_stored_object(of_project bigint, of_collection text, object_id text) returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    delete from stored_objects k
    where k.project_id = of_project
        and k.id = object_id
        and k.collection = of_collection;
$$;

comment on function delete_stored_object(bigint, text, text) is 'Deletes the record of an object that its provider no longer has. What else was claimed under this id stays the project''s.';
