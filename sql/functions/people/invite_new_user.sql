create or replace function invite_new_user(email text, user_role text, of_projects bigint[], member_roles text[]) returns table (
    id bigint,
    invitation text
)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_variable
declare
    invited constant bigint := create_user(email, user_role);
    given record;
begin
    for given in
        select m.project_id, m.role, p.name, count(*) over (partition by m.project_id) as times
        from unnest(of_projects, member_roles) as m (project_id, role)
        left join projects p on p.id = m.project_id
        order by m.project_id
    loop
        if given.name is null then
            raise exception 'there is no project proj_%', given.project_id using errcode = 'no_data_found';
        end if;
        if given.times > 1 then
            raise exception 'proj_% is named twice: give each project once, with its role', given.project_id
                using errcode = 'invalid_parameter_value';
        end if;
        perform add_membership(given.name, invited, given.role);
    end loop;
    return query select invited, invite_user(invited);
end;
$$;

comment on function invite_new_user(text, text, bigint[], text[]) is 'Adds a user (role owner: administrator, or reader) who is at once a member of these projects with these roles, and returns the id and an invitation, which is not shown again. Requires an administrator; adds nobody where anything is not valid.';
