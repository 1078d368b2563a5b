create or replace function share_measure(ordered_by text, requests numeric, failed numeric, tokens numeric, cost_usd numeric) returns numeric
language sql
immutable
parallel safe
as $$
    select case ordered_by when 'cost' then cost_usd when 'tokens' then tokens when 'failed' then failed else requests end;
$$;

comment on function share_measure(text, numeric, numeric, numeric, numeric) is 'The figure by which shares of usage are ordered: requests, cost, tokens, or failed requests.';
