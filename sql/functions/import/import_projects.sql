create or replace function import_projects(document jsonb, out created integer, out changed integer, out unchanged integer)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    given record;
    member record;
    owner_id bigint;
    member_id bigint;
    altered bigint[] := '{}';
begin
    created := 0;
    -- Unlike set_settings(), this does not warn of models without requests, which all of them are.
    perform check_setting(s.key, case jsonb_typeof(s.value)
        when 'array' then (select coalesce(string_agg(item, ','), '') from jsonb_array_elements_text(s.value) item)
        else s.value #>> '{}'
    end)
    from (
        select distinct e.key, e.value
        from jsonb_to_recordset(document -> 'projects') as g (settings jsonb)
        cross join jsonb_each(g.settings) e
    ) s;
    for given in
        select g.name, g.settings, imported.id as imported_id, p.id as known_id, coalesce(to_jsonb(p), '{}') as former
        from jsonb_to_recordset(document -> 'projects') as g (id text, name text, settings jsonb)
        cross join lateral (select (document ->> 'gateway') || ':' || g.id as id) imported
        left join projects p on p.imported_id = imported.id
    loop
        owner_id := given.known_id;
        given.settings := coalesce(
            (select jsonb_object_agg(s.key, s.value) from jsonb_each(given.settings) s where s.value is distinct from given.former -> s.key),
            '{}'
        );
        if owner_id is null then
            if exists (select from projects p where p.name = given.name) then
                raise exception 'project % exists already: rename it here, or the team or path of this name at %; for keys without a team or path, choose another --project', quote_for_message(given.name), document ->> 'gateway'
                    using errcode = 'unique_violation';
            end if;
            owner_id := create_project(given.name, document ->> 'plan');
            created := created + 1;
            given.settings := given.settings || jsonb_build_object('imported_id', given.imported_id);
        end if;
        if given.settings <> '{}' then
            execute format(
                'update projects p set (%1$s) = (select %1$s from jsonb_populate_record(p, $1)) where p.id = $2',
                (select string_agg(quote_ident(s.key), ', ') from jsonb_object_keys(given.settings) s (key))
            )
            using given.settings, owner_id;
            altered := altered || owner_id;
        end if;
    end loop;
    for member in
        -- Someone who is listed twice has the higher role.
        select distinct on (p.id, fold_email(m.email)) p.id, p.name, fold_email(m.email) as email, m.role
        from jsonb_to_recordset(document -> 'projects') as g (id text, members jsonb)
        join projects p on p.imported_id = (document ->> 'gateway') || ':' || g.id
        cross join jsonb_to_recordset(g.members) as m (email text, role text)
        left join users u on u.email = fold_email(m.email)
        where not exists (select from memberships s where s.project_id = p.id and s.user_id = u.id)
        order by p.id, fold_email(m.email), m.role <> 'owner'
    loop
        select u.id into member_id from users u where u.email = member.email;
        if not found then
            member_id := add_user(member.email, 'reader');
        end if;
        perform add_membership(member.name, member_id, member.role);
        altered := altered || member.id;
    end loop;
    changed := (select count(distinct a.id) from unnest(altered) a (id)) - created;
    unchanged := jsonb_array_length(document -> 'projects') - created - changed;
end;
$$;

comment on function import_projects(jsonb) is 'Creates the projects of an import, or changes their settings and adds members. A member that exists keeps its role. See import_accounts().';
