create or replace function import_accounts(document jsonb, is_dry_run boolean default false)
returns table (kind text, created integer, changed integer, unchanged integer)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
declare
    until timestamptz;
    moved integer := 0;
    -- Keeps its value when a dry run is rolled back.
    done jsonb := '[]';
begin
    perform require_administrator();
    -- One import at a time.
    perform pg_advisory_xact_lock(hashtext('model_proxy import_accounts'));
    perform require_plan(document ->> 'plan');
    begin
        if document ? 'keys_until' then
            until := (document ->> 'keys_until')::timestamptz;
            delete from service_settings s where s.name = 'imported_keys_until' and until is null;
            insert into service_settings as s (name, value, description)
            select 'imported_keys_until', to_json(until) #>> '{}', 'When keys of other gateways expire, those of later imports included: a time; no row: never.'
            where until is not null
            on conflict (name) do update
            set value = excluded.value
            where s.value <> excluded.value;
            -- A rotated key is no longer an imported one.
            update api_keys k
            set expires_at = least(k.imported_expires_at, until)
            where k.is_imported
                and k.expires_at is distinct from least(k.imported_expires_at, until);
            get diagnostics moved = row_count;
        end if;
        until := (select s.value::timestamptz from service_settings s where s.name = 'imported_keys_until');
        done := done || (select jsonb_build_object('kind', 'vendor') || to_jsonb(r) from import_vendors(document) r);
        done := done || (select jsonb_build_object('kind', 'project') || to_jsonb(r) from import_projects(document) r);
        done := done || (select jsonb_build_object('kind', 'key') || to_jsonb(r) from import_keys(document, until) r);
        done := done || (select jsonb_build_object('kind', 'budget') || to_jsonb(r) from import_budgets(document) r);
        -- Another database of the gateway may have them, so they are not deactivated.
        done := done || (
            select jsonb_build_object('kind', 'orphan', 'created', 0, 'changed', 0, 'unchanged', count(*))
            from api_keys k
            join projects p on p.id = k.project_id
            where (document ->> 'has_all_keys')::boolean
                and k.is_imported
                and k.deactivated_at is null
                and starts_with(p.imported_id, (document ->> 'gateway') || ':')
                and not exists (
                    select
                    from jsonb_to_recordset(document -> 'projects') as g (id text)
                    where p.imported_id = (document ->> 'gateway') || ':' || g.id
                )
        );
        done := done || jsonb_build_object('kind', 'expiry', 'created', 0, 'changed', moved, 'unchanged', 0);
        if jsonb_path_exists(done, '$[*] ? (@.created > 0 || @.changed > 0)') then
            perform audit(
                'accounts.imported', null, document ->> 'gateway',
                jsonb_build_object(
                    'keys', jsonb_path_query_first(done, '$[*] ? (@.kind == "key").created'),
                    'projects', jsonb_path_query_first(done, '$[*] ? (@.kind == "project").created'),
                    'keys_until', until
                )
            );
        end if;
        if is_dry_run then
            raise exception 'dry run' using errcode = 'PX002';
        end if;
    exception
        when sqlstate 'PX002' then
            null;
    end;
    return query
    select r.kind, r.created, r.changed, r.unchanged
    from jsonb_to_recordset(done) as r (kind text, created integer, changed integer, unchanged integer);
end;
$$;

comment on function import_accounts(jsonb, boolean) is
    'Imports the accounts of another gateway {gateway, plan, keys_until, has_all_keys, vendors, models, vendor_keys, projects, keys, budgets}, and returns how many of each kind were created or changed (expiry: keys that expire at another time; orphan: active imported keys of projects that are not in the document). All or nothing; the same document again changes nothing. Objects are found by their ids at the gateway, keys by their hash. keys_until, if it is given, is when imported keys expire, those of earlier imports included, if they do not expire sooner at their former gateway; null: never. A dry run is rolled back. Requires an administrator.';
