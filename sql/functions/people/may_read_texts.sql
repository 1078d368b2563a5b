create or replace function may_read_texts(of_project bigint, of_key bigint, stored_log_content text) returns boolean
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select stored_log_content = 'sealed'
        and current_project_role(of_project) in ('member', 'owner')
        and exists (
            select
            from projects p
            left join api_keys k on k.id = of_key and k.project_id = p.id
            where p.id = of_project
                and coalesce(k.log_content, p.log_content) = 'sealed'
        );
$$;

comment on function may_read_texts(bigint, bigint, text) is 'Whether the current user may read the texts of a request and its response: log_content was sealed when it was sent, and is for its key now; viewers never may. Every function that returns such texts has the rights of its owner, since others have none to these columns, and calls this one. Null: of_key (not known: as the project has it).';
