create or replace function find_stored_object(of_project bigint, of_collection text, object_id text)
returns table (id text, provider text, purpose text, requests integer, object text, models text[])
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select k.id, k.provider, k.purpose, k.requests, k.object, k.models
    from stored_objects k
    where k.project_id = of_project
        and k.id = object_id
        -- Most downloadable files of Anthropic were created by a tool: the project claimed their ids from a response.
        and (
            k.collection = of_collection
            or of_collection = 'anthropic_files'
            and k.collection = 'references'
            and split_part(k.provider, '/', 1) = 'anthropic'
        );
$$;

comment on function find_stored_object(bigint, text, text) is 'A file or a batch of the project; no row when it belongs to another project, or was not created through the proxy. Null: purpose, object (its provider has not reported it), models (they were not read).';
