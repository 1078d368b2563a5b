create or replace function find_storage_providers(of_project bigint, of_provider text, ids text[])
returns table (provider text)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select k.provider
    from stored_objects k
    where k.project_id = of_project
        and k.id = any (ids)
        and split_part(k.provider, '/', 1) = of_provider
        and k.provider not like '%/'
    group by k.provider
    order by count(*) desc, k.provider;
$$;

comment on function find_storage_providers(bigint, text, text[]) is 'The provider keys with which these objects of the project were created, in the form of stored_objects.provider, the one with the most objects first; no row for objects that were not created through the proxy.';
