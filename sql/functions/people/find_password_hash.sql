create or replace function find_password_hash(of_email text) returns text
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select u.password_hash from users u where u.email = fold_email(of_email);
$$;

comment on function find_password_hash(text) is 'argon2id hash of a user''s password. Null: result (there is no such user, or no password yet).';
