create or replace function check_settings() returns trigger
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    perform check_setting(k.name, case when k.type in ('models', 'aliases', 'durations', 'contexts') then (
        select coalesce(string_agg(item, ','), '') from jsonb_array_elements_text(now_set.settings -> k.name) item
    ) else now_set.settings ->> k.name end)
    from setting_kinds k, to_jsonb(new) as now_set (settings)
    where tg_op = 'INSERT' or now_set.settings -> k.name is distinct from to_jsonb(old) -> k.name;
    -- Copies of matches in Redis were found by the former corrections.
    if tg_op = 'UPDATE' and to_jsonb(new) -> 'semantic_contexts' is distinct from to_jsonb(old) -> 'semantic_contexts' then
        new.verdict_generation := old.verdict_generation + 1;
    end if;
    return new;
end;
$$;

comment on function check_settings() is 'Rejects values that a setting does not accept, even if an operator updates projects directly. Corrected contexts count as a verdict.';
