create or replace function can_log_in(person users) returns boolean
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select l.can_log_in from logins l where l.user_id = person.id;
$$;

comment on function can_log_in(users) is 'As in the view logins.';
