create or replace function delete_entries_of_projects() returns trigger
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
    delete from cache_entries e
    using gone g
    where e.project_id = g.id;
    return null;
end;
$$;

-- A foreign key would be checked for each answer, a seventh of what storing it costs. store_answers() locks the project anyway.
comment on function delete_entries_of_projects() is 'Deletes the cache entries of deleted projects.';
