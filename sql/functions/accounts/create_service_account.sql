create or replace function create_service_account(project text, key_name text, expires timestamptz) returns table (
    id bigint,
    api_key service_account_key
)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    made record;
begin
    select * into made from create_api_key(project, 'project', key_name, expires);
    return query
    select k.id, row(
        'organization.project.service_account.api_key', 'key_' || k.id, k.name, made.value,
        to_unix_seconds(k.created_at), to_unix_seconds(k.expires_at)
    )::service_account_key
    from api_keys k
    where k.id = made.id;
end;
$$;

comment on function create_service_account(text, text, timestamptz) is 'Creates a key of a project in the form of OpenAI''s service account. Null: expires (never).';
