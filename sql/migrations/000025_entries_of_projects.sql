-- Each stored response paid for a check that its project exists, a seventh of what storing it cost. store_answers() locks the project
-- anyway, and is alone in storing entries. A deleted project still takes its entries with it.
create function delete_entries_of_projects() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
    delete from cache_entries e
    using gone g
    where e.project_id = g.id;
    return null;
end;
$$;

comment on function delete_entries_of_projects() is 'Deletes the cache entries of deleted projects.';

create trigger projects_deleted after delete on projects referencing old table as gone
    for each statement execute function delete_entries_of_projects();

alter table cache_entries drop constraint cache_entries_project_id_fkey;
