create or replace function sync_aggregator_models(published json, source_address text, dry_run boolean)
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
    create temporary table offered_models on commit drop as
    select
        o.model,
        -- The aggregator's list does not distinguish completion models from chat models.
        case when k.kind = 'completion' and o.kind = 'chat' then k.kind else o.kind end as kind,
        coalesce(o.context_tokens, k.context_tokens) as context_tokens,
        coalesce(o.max_output_tokens, k.max_output_tokens) as max_output_tokens,
        o.input_usd_per_million,
        o.cached_input_usd_per_million,
        o.cache_write_usd_per_million,
        o.output_usd_per_million,
        o.request_usd,
        o.capabilities
    from json_to_recordset(published) as o (
        model text,
        kind text,
        context_tokens integer,
        max_output_tokens integer,
        input_usd_per_million numeric(12, 6),
        cached_input_usd_per_million numeric(12, 6),
        cache_write_usd_per_million numeric(12, 6),
        output_usd_per_million numeric(12, 6),
        request_usd numeric(12, 6),
        capabilities text[]
    )
    left join models k on k.provider = 'aggregator' and k.model = o.model;

    return query
    with compared as (
        select
            coalesce(o.model, k.model) as model,
            case
                when k.model is null then 'added'
                when k.source = 'operator' then 'left alone'
                when o.model is null then 'gone'
                when not k.listed then 'back'
                else 'changed'
            end as change,
            describe_changes(to_jsonb(k), to_jsonb(o)) as differences,
            k.listed as was_listed,
            format('input %s, output %s', trim_scale(o.input_usd_per_million), trim_scale(o.output_usd_per_million)) as prices
        from offered_models o
        full join (
            select m.*, coalesce(u.usd, 0) as request_usd
            from models m
            left join model_unit_prices u on u.provider = m.provider and u.model = m.model and u.unit = 'request'
            where m.provider = 'aggregator'
        ) k on k.model = o.model
        -- A list without any model of a kind changes no models of that kind.
        where o.model is not null or k.kind in (select kind from offered_models)
    )
    select
        c.change,
        c.model,
        case c.change when 'added' then c.prices else coalesce(c.differences, '') end
    from compared c
    where c.change in ('added', 'back')
        or (c.change = 'gone' and c.was_listed)
        or (c.change in ('changed', 'left alone') and c.differences is not null)
    order by c.change, c.model;

    if not dry_run then
        insert into models (
            provider, model, kind, context_tokens, max_output_tokens, input_usd_per_million, cached_input_usd_per_million,
            cache_write_usd_per_million, output_usd_per_million, capabilities, source, as_of
        )
        select
            'aggregator', o.model, o.kind, o.context_tokens, o.max_output_tokens, o.input_usd_per_million,
            o.cached_input_usd_per_million, o.cache_write_usd_per_million, o.output_usd_per_million, o.capabilities,
            source_address, current_date
        from offered_models o
        on conflict on constraint models_pkey do update
        set kind = excluded.kind,
            context_tokens = excluded.context_tokens,
            max_output_tokens = excluded.max_output_tokens,
            input_usd_per_million = excluded.input_usd_per_million,
            cached_input_usd_per_million = excluded.cached_input_usd_per_million,
            cache_write_usd_per_million = excluded.cache_write_usd_per_million,
            output_usd_per_million = excluded.output_usd_per_million,
            capabilities = excluded.capabilities,
            listed = true,
            source = excluded.source,
            as_of = excluded.as_of
        where models.source <> 'operator';

        delete from model_unit_prices u
        using offered_models o
        where u.provider = 'aggregator'
            and u.model = o.model
            and u.unit = 'request'
            and u.source <> 'operator'
            and o.request_usd = 0;

        insert into model_unit_prices (provider, model, unit, usd, source, checked_at)
        select 'aggregator', o.model, 'request', o.request_usd, source_address, current_date
        from offered_models o
        where o.request_usd > 0
        on conflict on constraint model_unit_prices_pkey do update
        set usd = excluded.usd,
            source = excluded.source,
            checked_at = excluded.checked_at
        where model_unit_prices.source <> 'operator';

        update models k
        set listed = false
        where k.provider = 'aggregator'
            and k.source <> 'operator'
            and k.kind in (select kind from offered_models)
            and not exists (select 1 from offered_models o where o.model = k.model);
    end if;
    drop table offered_models;
end;
$$;

comment on function sync_aggregator_models(json, text, boolean) is
    'Updates the aggregator''s rows of the catalogue from its list, and returns the differences: added, changed, back, gone (not listed any more), left alone (an operator''s row that differs). dry_run: changes nothing. Raises when a model is listed twice or a value is invalid.';
