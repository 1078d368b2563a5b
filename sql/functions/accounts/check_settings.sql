create or replace function check_settings() returns trigger
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    given constant jsonb := to_jsonb(new);
    former constant jsonb := coalesce(to_jsonb(old), '{}');
begin
    perform check_setting(k.name, v.text)
    from setting_kinds k
    cross join lateral (
        select case
            when k.type in ('models', 'aliases', 'durations', 'contexts') then (
                select coalesce(string_agg(item, ','), '') from jsonb_array_elements_text(given -> k.name) item
            )
            else given ->> k.name
        end as text
    ) v
    where given -> k.name is distinct from former -> k.name
        -- A new project has presets, which are valid.
        and (tg_op = 'UPDATE' or v.text is distinct from btrim(k.preset, '{}'));
    -- Copies of matches in Redis were found by the former corrections.
    if tg_op = 'UPDATE' and given -> 'semantic_contexts' is distinct from former -> 'semantic_contexts' then
        new.verdict_generation := old.verdict_generation + 1;
    end if;
    return new;
end;
$$;

comment on function check_settings() is 'Rejects values that a setting does not accept, even if an operator updates projects directly. Corrected contexts count as a verdict.';
