create or replace function find_foreign_files(
    of_project bigint,
    of_provider text,
    under_shared_key boolean,
    file_ids text[]
)
returns table (id text)
language sql
stable
set search_path = public, pg_temp
as $$
    select named.id
    from unnest(file_ids) as named (id)
    where not exists (
            select from kept_objects mine
            where mine.project_id = of_project
                and mine.id = named.id
                and mine.provider = of_provider
                and mine.collection = 'files'
        )
        -- With a provider key of its own, a project may also name files that it created without the proxy.
        and (
            under_shared_key
            or exists (
                select from kept_objects others
                where others.id = named.id
                    and others.provider = of_provider
            )
        );
$$;

comment on function find_foreign_files(bigint, text, boolean, text[]) is 'Returns those files that the project may not name to the provider: another project''s; under a shared key, also every file that the project did not create through the proxy.';
