create or replace function record_exceeded_limit(of_provider text, of_model text) returns boolean
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    update models m
    set exceeded_limit_at = now()
    where m.provider = of_provider
        and m.model = of_model
        and m.exceeded_limit_at is null;
    return found;
end;
$$;

comment on function record_exceeded_limit(text, text) is
    'Records that a response of the model was longer than its request allowed. Returns whether it is the first one.';
