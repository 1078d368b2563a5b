create or replace function import_projects(document jsonb, out created integer, out changed integer, out unchanged integer)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    given record;
    member record;
    owner_id bigint;
    owner_name text;
    member_id bigint;
    is_new boolean;
    is_same boolean;
    differing jsonb;
begin
    created := 0;
    changed := 0;
    unchanged := 0;
    for given in
        select
            (document ->> 'gateway') || ':' || g.id as imported_id,
            g.*
        from jsonb_to_recordset(document -> 'projects') as g (id text, name text, settings jsonb, members jsonb)
    loop
        select p.id, p.name into owner_id, owner_name from projects p where p.imported_id = given.imported_id for update;
        is_new := owner_id is null;
        if is_new then
            owner_id := create_project(given.name, document ->> 'plan');
            owner_name := given.name;
            update projects p set imported_id = given.imported_id where p.id = owner_id;
        end if;
        select jsonb_object_agg(s.key, s.value) into differing
        from jsonb_each(given.settings) s
        where s.value is distinct from project_settings(owner_id) -> s.key;
        is_same := differing is null;
        if not is_same then
            -- Unlike set_settings(), this does not warn of models without requests, which all of them are.
            perform check_setting(s.key, case jsonb_typeof(s.value)
                when 'array' then (select coalesce(string_agg(item, ','), '') from jsonb_array_elements_text(s.value) item)
                else s.value #>> '{}'
            end)
            from jsonb_each(differing) s;
            execute format(
                'update projects p set (%1$s) = (select %1$s from jsonb_populate_record(p, $1)) where p.id = $2',
                (select string_agg(quote_ident(s.key), ', ') from jsonb_object_keys(differing) s (key))
            )
            using differing, owner_id;
        end if;
        for member in
            select m.email, m.role from jsonb_to_recordset(given.members) as m (email text, role text)
        loop
            select u.id into member_id from users u where u.email = lower(btrim(member.email));
            if not found then
                member_id := add_user(member.email, 'reader');
            end if;
            if not exists (select from memberships m where m.project_id = owner_id and m.user_id = member_id) then
                perform add_membership(owner_name, member_id, member.role);
                is_same := false;
            end if;
        end loop;
        created := created + is_new::integer;
        unchanged := unchanged + (is_same and not is_new)::integer;
        changed := changed + (not is_new and not is_same)::integer;
    end loop;
end;
$$;

comment on function import_projects(jsonb) is 'Creates the projects of an import, or changes their settings and adds members. A member that exists keeps its role. See import_accounts().';
