create or replace function find_target_name(target text) returns text
language plpgsql
stable
strict
set search_path = model_proxy, pg_temp
as $$
declare
    parts constant text[] := regexp_match(target, '^(admin_key|key|plan|proj|user|webhook)_(.+)$');
    of_id constant bigint := substring(parts[2] from '^[0-9]{1,18}$');
begin
    return case parts[1]
        when 'admin_key' then (select k.name from admin_keys k where k.id = of_id)
        when 'key' then (select k.name from api_keys k where k.id = of_id)
        when 'plan' then parts[2]
        when 'proj' then (select p.name from projects p where p.id = of_id)
        when 'user' then (select u.email from users u where u.id = of_id)
        -- The path of a URL may contain a secret.
        when 'webhook' then (select hide_url_path(w.url) from webhooks w where w.id = of_id)
    end;
end;
$$;

comment on function find_target_name(text) is 'The present name of an object of the admin API: of a key, plan, project or webhook its name, of a user the e-mail address. Null: result (it has no name, or does not exist).';
