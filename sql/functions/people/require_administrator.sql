create or replace function require_administrator() returns void
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
begin
    if current_user_id() is not null and not is_administrator() then
        raise exception 'only administrators can do this' using errcode = 'insufficient_privilege';
    end if;
end;
$$;

comment on function require_administrator() is 'Raises insufficient_privilege when the current user is not an administrator; operators with psql pass.';
