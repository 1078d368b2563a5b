-- Costs in the format of the FinOps Open Cost and Usage Specification (FOCUS) 1.2. Dates are of UTC whatever the session's time zone.

create or replace view focus_costs with (security_invoker = true) as
with usage as (
    select
        project_id, at as day, key_id, endpoint, model, provider, requests,
        case when cache_result in ('HIT', 'HIT-SEMANTIC') then requests else 0 end as hits,
        prompt_tokens, cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, 0::numeric as estimated_usd
    from usage_sums
    where grain = 'day'
        and project_id > 0
    union all
    select
        project_id, date_trunc('day', at, 'UTC'), key_id, endpoint, model, provider, requests,
        case when cache_result in ('HIT', 'HIT-SEMANTIC') then requests else 0 end,
        prompt_tokens, cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, 0
    from usage_pending
    union all
    -- No sum has these costs apart. They are few, and have a partial index.
    select
        project_id, date_trunc('day', recorded_at, 'UTC'), key_id, endpoint, model, coalesce(provider, ''), 0,
        0, 0, 0, 0, 0, 0, 0, cost_usd
    from usage_records
    where cost_estimated is not null
),
charges as (
    select
        project_id, day, key_id, endpoint, model, provider,
        sum(requests)::bigint as requests,
        sum(hits)::bigint as hits,
        sum(prompt_tokens)::bigint as prompt_tokens,
        sum(cached_prompt_tokens)::bigint as cached_prompt_tokens,
        sum(completion_tokens)::bigint as completion_tokens,
        sum(tokens_saved)::bigint as tokens_saved,
        sum(cost_usd) as cost_usd,
        sum(saved_usd) as saved_usd,
        sum(estimated_usd) as estimated_usd
    from usage
    -- Requests that ended before a provider was chosen, such as rejected ones, are not charged.
    where provider <> ''
        or cost_usd <> 0
        or saved_usd <> 0
        or estimated_usd <> 0
    group by 1, 2, 3, 4, 5, 6
    -- A record that was settled again is subtracted with its former values.
    having sum(requests) <> 0
        or sum(cost_usd) <> 0
        or sum(saved_usd) <> 0
)
select
    c.cost_usd as "BilledCost",
    'organization' as "BillingAccountId",
    'Organization' as "BillingAccountName",
    'USD' as "BillingCurrency",
    (date_trunc('month', c.day at time zone 'UTC') + interval '1 month') at time zone 'UTC' as "BillingPeriodEnd",
    date_trunc('month', c.day, 'UTC') as "BillingPeriodStart",
    'Usage' as "ChargeCategory",
    null::text as "ChargeClass",
    'Requests to ' || c.model || ' at ' || c.endpoint as "ChargeDescription",
    'Usage-Based' as "ChargeFrequency",
    c.day + interval '24 hours' as "ChargePeriodEnd",
    c.day as "ChargePeriodStart",
    q.quantity as "ConsumedQuantity",
    q.unit as "ConsumedUnit",
    c.cost_usd as "ContractedCost",
    c.cost_usd as "EffectiveCost",
    null::text as "InvoiceId",
    n.provider_name as "InvoiceIssuerName",
    c.cost_usd as "ListCost",
    'Standard' as "PricingCategory",
    q.quantity as "PricingQuantity",
    q.unit as "PricingUnit",
    n.provider_name as "ProviderName",
    n.provider_name as "PublisherName",
    null::text as "RegionId",
    null::text as "RegionName",
    'key_' || c.key_id as "ResourceId",
    k.name as "ResourceName",
    'API Key' as "ResourceType",
    'AI and Machine Learning' as "ServiceCategory",
    n.provider_name || ' API' as "ServiceName",
    case when c.endpoint in ('embeddings', 'moderations', 'rerank') then 'Machine Learning' else 'Generative AI' end as "ServiceSubcategory",
    n.sku as "SkuId",
    c.endpoint as "SkuMeter",
    n.sku as "SkuPriceId",
    'proj_' || c.project_id as "SubAccountId",
    p.name as "SubAccountName",
    jsonb_strip_nulls(
        jsonb_build_object('model-proxy/project', p.name, 'model-proxy/key', k.name, 'model-proxy/key-type', k.type)
    ) as "Tags",
    c.saved_usd as "x_cache_saved_usd",
    c.estimated_usd as "x_estimated_usd",
    c.model as "x_model",
    c.endpoint as "x_endpoint",
    k.type as "x_key_type",
    c.requests as "x_requests",
    c.hits as "x_cache_hits",
    c.prompt_tokens as "x_prompt_tokens",
    c.cached_prompt_tokens as "x_cached_prompt_tokens",
    c.completion_tokens as "x_completion_tokens",
    c.tokens_saved as "x_tokens_saved"
from charges c
left join projects p on p.id = c.project_id
left join api_keys k on k.id = c.key_id
left join vendors v on v.name = c.provider
cross join lateral (
    select
        coalesce(v.title, nullif(c.provider, ''), 'Unknown') as provider_name,
        concat_ws('/', nullif(c.provider, ''), c.model, c.endpoint) as sku
) n
cross join lateral (
    select
        case when t.tokens <> 0 then t.tokens else c.requests - c.hits end::numeric as quantity,
        case when t.tokens <> 0 then 'Tokens' else 'Requests' end as unit
    from (select c.prompt_tokens + c.completion_tokens as tokens) t
) q;

comment on view focus_costs is 'Costs in FOCUS 1.2, up to the last record: one row for each UTC day, project, key, model, provider and endpoint. Conditional columns that no row could fill are absent: unit prices, because the tokens of a row have several prices; commitment discounts; capacity reservations; other currencies.';
comment on column focus_costs."BilledCost" is 'Sum of cost_usd: as the providers reported it, or by the catalogue''s prices.';
comment on column focus_costs."BillingAccountId" is 'Always organization: the whole installation.';
comment on column focus_costs."BillingAccountName" is 'Always Organization.';
comment on column focus_costs."BillingCurrency" is 'Always USD.';
comment on column focus_costs."BillingPeriodEnd" is 'End of the UTC month, exclusive.';
comment on column focus_costs."BillingPeriodStart" is 'Start of the UTC month.';
comment on column focus_costs."ChargeCategory" is 'Always Usage.';
comment on column focus_costs."ChargeClass" is 'Always null: later corrections change the row of the day to which they belong.';
comment on column focus_costs."ChargeDescription" is 'Model and endpoint in words.';
comment on column focus_costs."ChargeFrequency" is 'Always Usage-Based.';
comment on column focus_costs."ChargePeriodEnd" is 'End of the UTC day, exclusive.';
comment on column focus_costs."ChargePeriodStart" is 'Start of the UTC day in which the responses ended.';
comment on column focus_costs."ConsumedQuantity" is 'Prompt and completion tokens that the provider charged for; if there are none, the requests that were not cache hits.';
comment on column focus_costs."ConsumedUnit" is 'Tokens or Requests.';
comment on column focus_costs."ContractedCost" is 'As BilledCost.';
comment on column focus_costs."EffectiveCost" is 'As BilledCost: the proxy knows no prepaid amounts.';
comment on column focus_costs."InvoiceId" is 'Always null: the proxy does not know the provider''s invoices.';
comment on column focus_costs."InvoiceIssuerName" is 'As ProviderName.';
comment on column focus_costs."ListCost" is 'As BilledCost: the proxy knows one price.';
comment on column focus_costs."PricingCategory" is 'Always Standard.';
comment on column focus_costs."PricingQuantity" is 'As ConsumedQuantity.';
comment on column focus_costs."PricingUnit" is 'As ConsumedUnit.';
comment on column focus_costs."ProviderName" is 'Title of the provider. Users who are not administrators see its name instead; Unknown if none was recorded.';
comment on column focus_costs."PublisherName" is 'As ProviderName.';
comment on column focus_costs."RegionId" is 'Always null: the proxy does not know where a provider computes.';
comment on column focus_costs."RegionName" is 'Always null.';
comment on column focus_costs."ResourceId" is 'Id of the key, as in the admin API.';
comment on column focus_costs."ResourceName" is 'Name of the key; null if it was deleted.';
comment on column focus_costs."ResourceType" is 'Always API Key.';
comment on column focus_costs."ServiceCategory" is 'Always AI and Machine Learning.';
comment on column focus_costs."ServiceName" is 'ProviderName and API.';
comment on column focus_costs."ServiceSubcategory" is 'Machine Learning for embeddings, moderations and rerank; else Generative AI.';
comment on column focus_costs."SkuId" is 'Provider, model and endpoint, with slashes between them.';
comment on column focus_costs."SkuMeter" is 'The endpoint.';
comment on column focus_costs."SkuPriceId" is 'As SkuId.';
comment on column focus_costs."SubAccountId" is 'Id of the project, as in the admin API.';
comment on column focus_costs."SubAccountName" is 'Name of the project; null if it was deleted.';
comment on column focus_costs."Tags" is 'Names of the project and of the key, and its type, as model-proxy/project, model-proxy/key and model-proxy/key-type. A request''s own tags are in usage_sums_by_tag.';
comment on column focus_costs."x_cache_saved_usd" is 'The cost that cache hits saved. It is part of no other cost.';
comment on column focus_costs."x_estimated_usd" is 'The part of BilledCost that is estimated; 0 for days whose records have been deleted.';
comment on column focus_costs."x_model" is 'The model that responded.';
comment on column focus_costs."x_endpoint" is 'The endpoint, as in usage_records.';
comment on column focus_costs."x_key_type" is 'project or test; null if the key was deleted.';
comment on column focus_costs."x_requests" is 'The number of requests.';
comment on column focus_costs."x_cache_hits" is 'The number of them that were cache hits.';
comment on column focus_costs."x_prompt_tokens" is 'As prompt_tokens in usage_records.';
comment on column focus_costs."x_cached_prompt_tokens" is 'As cached_prompt_tokens in usage_records.';
comment on column focus_costs."x_completion_tokens" is 'As completion_tokens in usage_records.';
comment on column focus_costs."x_tokens_saved" is 'As tokens_saved in usage_records.';
