create or replace function register_embedding_space(model text, dimensions integer) returns integer
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_variable
declare
    registered_id integer;
begin
    -- Two proxies that start at the same time take turns.
    perform pg_advisory_xact_lock(hashtext('model_proxy register_embedding_space'));
    select s.id into registered_id
    from embedding_spaces s
    where s.model = model and s.dimensions = dimensions and s.precision = 'half';
    if registered_id is null then
        insert into embedding_spaces (model, dimensions) values (model, dimensions) returning id into registered_id;
    end if;
    return registered_id;
end;
$$;

comment on function register_embedding_space(text, integer) is 'Returns the id of the space of an embedding model with a number of dimensions. Creates it at first use.';
