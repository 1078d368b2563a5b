create or replace function sync_prices(published json, source_address text, dry_run boolean)
returns table (
    change text,
    model text,
    details text
)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
begin
    -- Prices that the source does not contain stay.
    create temporary table offered_prices on commit drop as
    select
        o.provider,
        o.model,
        o.tier,
        o.above_prompt_tokens,
        m.model is not null as is_known,
        coalesce(p.source, case when o.tier = 'standard' and o.above_prompt_tokens = 0 then m.source end) as source,
        p.model is not null or (o.tier = 'standard' and o.above_prompt_tokens = 0) as is_there,
        old.value as old,
        new.value as new
    from json_to_recordset(published) as o (
        provider text,
        model text,
        tier text,
        above_prompt_tokens integer,
        input_usd_per_million numeric(12, 6),
        cached_input_usd_per_million numeric(12, 6),
        cache_write_usd_per_million numeric(12, 6),
        cache_write_hour_usd_per_million numeric(12, 6),
        output_usd_per_million numeric(12, 6)
    )
    left join models m on m.provider = o.provider and m.model = o.model
    left join model_prices p
        on p.provider = o.provider
        and p.model = o.model
        and p.tier = o.tier
        and p.above_prompt_tokens = o.above_prompt_tokens
    cross join lateral (
        select case when o.tier = 'standard' and o.above_prompt_tokens = 0 then to_jsonb(m) else to_jsonb(p) end as value
    ) kept
    cross join lateral (
        select jsonb_object_agg(k, kept.value -> k) as value
        from unnest(array[
            'input_usd_per_million', 'cached_input_usd_per_million', 'cache_write_usd_per_million',
            'cache_write_hour_usd_per_million', 'output_usd_per_million'
        ]) k
    ) old
    cross join lateral (
        select old.value || jsonb_strip_nulls(to_jsonb(o) - array['provider', 'model', 'tier', 'above_prompt_tokens']) as value
    ) new;

    return query
    with compared as (
        select
            f.*,
            case
                when not f.is_known then 'not listed'
                when f.source = 'operator' then 'left alone'
                when not f.is_there then 'added'
                else 'changed'
            end as change,
            describe_changes(f.old, f.new) as differences
        from offered_prices f
    )
    select
        c.change,
        c.provider || ' ' || c.model
            || case when c.tier <> 'standard' then ', ' || c.tier else '' end
            || case when c.above_prompt_tokens > 0 then ', above ' || c.above_prompt_tokens || ' tokens' else '' end,
        c.differences
    from compared c
    where c.differences is not null
    order by c.change, 2;

    if not dry_run then
        update models m
        set input_usd_per_million = (f.new ->> 'input_usd_per_million')::numeric,
            cached_input_usd_per_million = (f.new ->> 'cached_input_usd_per_million')::numeric,
            cache_write_usd_per_million = (f.new ->> 'cache_write_usd_per_million')::numeric,
            cache_write_hour_usd_per_million = (f.new ->> 'cache_write_hour_usd_per_million')::numeric,
            output_usd_per_million = (f.new ->> 'output_usd_per_million')::numeric,
            source = source_address,
            as_of = current_date
        from offered_prices f
        where m.provider = f.provider
            and m.model = f.model
            and f.tier = 'standard'
            and f.above_prompt_tokens = 0
            and m.source <> 'operator'
            and f.old <> f.new;

        insert into model_prices (
            provider, model, tier, above_prompt_tokens, input_usd_per_million, cached_input_usd_per_million,
            cache_write_usd_per_million, cache_write_hour_usd_per_million, output_usd_per_million, source, checked_at
        )
        select
            f.provider, f.model, f.tier, f.above_prompt_tokens, (f.new ->> 'input_usd_per_million')::numeric,
            (f.new ->> 'cached_input_usd_per_million')::numeric, (f.new ->> 'cache_write_usd_per_million')::numeric,
            (f.new ->> 'cache_write_hour_usd_per_million')::numeric, (f.new ->> 'output_usd_per_million')::numeric, source_address, current_date
        from offered_prices f
        where f.is_known
            and (f.tier <> 'standard' or f.above_prompt_tokens > 0)
        on conflict on constraint model_prices_pkey do update
        set input_usd_per_million = excluded.input_usd_per_million,
            cached_input_usd_per_million = excluded.cached_input_usd_per_million,
            cache_write_usd_per_million = excluded.cache_write_usd_per_million,
            cache_write_hour_usd_per_million = excluded.cache_write_hour_usd_per_million,
            output_usd_per_million = excluded.output_usd_per_million,
            source = excluded.source,
            checked_at = excluded.checked_at
        where model_prices.source <> 'operator';
    end if;
    drop table offered_prices;
end;
$$;

comment on function sync_prices(json, text, boolean) is
    'Updates vendors'' prices in the catalogue from a published table, and returns the differences: changed, added (a condition), left alone (an operator''s own), not listed (a model that is not in the catalogue: it is not added). dry_run: changes nothing.';
