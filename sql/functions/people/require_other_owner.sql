create or replace function require_other_owner(of_user bigint, of_project bigint) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    left_without text;
begin
    -- Two owners who remove or demote each other take turns.
    perform from memberships m
    where m.project_id in (
        select o.project_id from memberships o where o.user_id = of_user and (of_project is null or o.project_id = of_project)
    )
    order by m.project_id, m.user_id
    for update;

    select p.name into left_without
    from memberships m
    join projects p on p.id = m.project_id
    join users leaving on leaving.id = m.user_id
    where m.user_id = of_user
        and (of_project is null or m.project_id = of_project)
        and m.role = 'owner'
        and p.archived_at is null
        and not exists (
            select
            from memberships o
            join users other on other.id = o.user_id
            where o.project_id = m.project_id
                and o.role = 'owner'
                and o.user_id <> of_user
                and (can_log_in(other) or not can_log_in(leaving))
        )
    order by p.id
    limit 1;
    if left_without is not null then
        raise exception 'user_% is the last owner of project % who can log in: make another one first', of_user, quote_for_message(left_without)
            using errcode = 'object_not_in_prerequisite_state';
    end if;
end;
$$;

comment on function require_other_owner(bigint, bigint) is 'Raises where a user is the last owner who can log in of a project (null: of any that is not archived), and locks its members, so that this stays so until the transaction ends. Where no owner can log in, one who is invited must be left.';
