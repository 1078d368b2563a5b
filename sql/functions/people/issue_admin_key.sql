create or replace function issue_admin_key(
    of_email text,
    key_name text,
    expires timestamptz default null,
    with_permissions text default 'all',
    project text default null
)
returns table (
    id bigint,
    key text
)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
declare
    secret constant text := generate_secret('lgw_admin_');
    issued bigint;
    scope_id constant bigint := case when project is not null then find_project(project) end;
begin
    perform require_administrator();
    perform require_key_name(key_name);
    perform require_future(expires);
    if with_permissions is null or with_permissions not in ('all', 'read_only') then
        raise exception 'permissions % are not valid: use all or read_only', quote_for_message(with_permissions)
            using errcode = 'invalid_parameter_value';
    end if;
    insert into admin_keys as k (user_id, key_hash, prefix, name, expires_at, permissions, scope_project_id)
    select u.id, sha256(convert_to(secret, 'UTF8')), left(secret, 18), key_name, expires, with_permissions, scope_id
    from users u
    where u.email = fold_email(of_email) and u.role = 'owner'
    returning k.id into issued;
    if issued is null then
        raise exception 'there is no administrator %', quote_for_message(of_email) using errcode = 'no_data_found';
    end if;
    perform audit(
        'admin_api_key.created', null, 'admin_key_' || issued,
        jsonb_build_object('name', key_name, 'expires_at', expires, 'permissions', with_permissions, 'project', project)
    );
    return query select issued, secret;
end;
$$;

comment on function issue_admin_key(text, text, timestamptz, text, text) is 'Creates and returns an admin API key that acts for an administrator, with permissions all or read_only, in all projects or in one, where it has the rights of an owner. It is not shown again. Requires an administrator. Null: project (all).';
