create or replace function record_vendor_changes() returns trigger
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    if current_setting('proxy_caller.seeds', true) = 'on' then
        return new;
    end if;
    if tg_op = 'DELETE' then
        perform audit('vendor.removed', null, old.name);
        return old;
    end if;
    -- A row that an operator changes is no longer replaced by a release's.
    if tg_op = 'UPDATE' and new.source = old.source then
        new.source := 'operator';
    end if;
    -- Headers may contain secrets, so values are not recorded.
    perform audit('vendor.set', null, new.name, jsonb_build_object(
        'base_url', new.base_url,
        'columns', (
            select jsonb_agg(n.key order by n.key)
            from jsonb_each(to_jsonb(new)) n
            where tg_op = 'UPDATE' and to_jsonb(old) -> n.key is distinct from n.value
        )
    ));
    return new;
end;
$$;

comment on function record_vendor_changes() is 'Records each change of a vendor in the audit log, however the change is made, and marks the row as the operator''s. Not for seeds.';
