create or replace function can_lose_role(of_user bigint, new_role text) returns boolean
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    -- Two administrators who demote each other take turns.
    perform from users u where u.role = 'owner' order by u.id for update;
    return new_role is not distinct from 'owner' or exists (
        select
        from users u
        where u.role = 'owner' and u.id <> of_user and (can_log_in(u) or not exists (
            select from users o where o.role = 'owner' and can_log_in(o)
        ))
    ) or not exists (select from users u where u.id = of_user and u.role = 'owner');
end;
$$;

comment on function can_lose_role(bigint, text) is 'Whether an administrator who can log in is left when this user gets another role (null: is deleted). Where none can, one who is invited must be left.';
