create or replace function search_names(in_kind text, of_project bigint, search text, max_rows integer)
returns table (value text, name text, detail text)
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
declare
    this_month constant timestamptz := date_trunc('month', now(), 'UTC');
begin
    if of_project is not null then
        perform authorize(of_project, 'viewer');
    end if;
    case in_kind
        when 'api_key' then
            return query
            select 'key_' || k.id, k.name, k.redacted_value
            from api_keys k
            where k.project_id = of_project
                and k.session_id is null
                and (strpos(lower(k.name), lower(search)) > 0 or starts_with(k.prefix, left(search, 17)) and search <> '')
            order by k.deactivated_at is not null, k.replaced_by is not null, k.id desc
            limit max_rows;
        when 'end_user' then
            return query
            select u.name, u.name, null::text
            from list_end_users(of_project, this_month - interval '1 month', 'infinity', name_part => search, page_size => max_rows) u;
        when 'model' then
            return query
            select m.model, m.model, null::text
            from list_used_models(of_project) m
            where m.model <> '' and strpos(lower(m.model), lower(search)) > 0
            order by 1
            limit max_rows;
        when 'project' then
            return query
            select 'proj_' || p.id, p.name, case when p.archived_at is not null then 'Archived' end
            from projects p
            where strpos(lower(p.name), lower(search)) > 0
            order by p.archived_at is not null, p.name
            limit max_rows;
        when 'tag' then
            -- End users have a search of their own.
            return query
            select t.name, t.name, null::text
            from name_shares(array[of_project], this_month - interval '2 months', 'infinity', null, 'tag') t
            where strpos(lower(t.name), lower(search)) > 0 and not starts_with(t.name, 'user_id=')
            order by t.requests desc, t.name
            limit max_rows;
        when 'user' then
            return query
            select u.email, u.email, null::text
            from users u
            where strpos(u.email, lower(search)) > 0
            order by 1
            limit max_rows;
        else
            raise exception 'kind % is not valid: use api_key, end_user, model, project, tag or user', quote_for_message(in_kind)
                using errcode = 'invalid_parameter_value';
    end case;
end;
$$;

comment on function search_names(text, bigint, text, integer) is
    'What the current user may choose from: values of a kind (api_key, end_user, model, project, tag, user) that contain the search, ignoring case, with a name to show. project and user need no project. End users are those of this month and the one before, most expensive first; tags those of this month and the two before, most used first, without the tag user_id. Null: of_project (all), detail (none).';
