create or replace function can_log_in(person users) returns boolean
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select person.password_hash is not null or exists (select from user_identities i where i.user_id = person.id);
$$;

comment on function can_log_in(users) is 'Whether a user has a password, or has logged in with an identity provider.';
