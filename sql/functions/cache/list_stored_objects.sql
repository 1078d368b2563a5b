create or replace function list_stored_objects(
    of_project bigint,
    of_collection text,
    stored_by text,
    for_purpose text,
    only_ids text[],
    after_id text,
    newest_first boolean,
    page_size integer
)
returns table (id text, provider text, object text)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    with cursor as (
        select (select k.position from stored_objects k where k.project_id = of_project and k.id = after_id) as position
    )
    select k.id, k.provider, k.object
    from stored_objects k, cursor c
    where k.project_id = of_project
        and k.collection = of_collection
        and (stored_by is null or split_part(k.provider, '/', 1) = stored_by)
        and (for_purpose is null or k.purpose = for_purpose)
        and (only_ids is null or k.id = any (only_ids))
        and (k.expires_at is null or k.expires_at > now())
        and (after_id is null or case when newest_first then k.position < c.position else k.position > c.position end)
    order by case when newest_first then -k.position else k.position end
    limit page_size;
$$;

comment on function list_stored_objects(bigint, text, text, text, text[], text, boolean, integer) is 'The project''s own files or batches, all or those that one provider stores, after a given one; empty when the given one does not exist. Null: stored_by, for_purpose, only_ids (any), after_id (from the first on), object (its provider has not reported it).';
