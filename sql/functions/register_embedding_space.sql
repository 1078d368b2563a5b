create or replace function register_embedding_space(model text, dimensions integer, build_graph boolean) returns integer
language plpgsql
volatile
set search_path = public, pg_temp
as $$
#variable_conflict use_variable
declare
    registered_id integer;
begin
    -- Two proxies that start at once take turns.
    perform pg_advisory_xact_lock(hashtext('register_embedding_space'));
    select s.id into registered_id
    from embedding_spaces s
    where s.model = model and s.dimensions = dimensions and s.precision = 'half';
    if registered_id is null then
        insert into embedding_spaces (model, dimensions) values (model, dimensions) returning id into registered_id;
    end if;
    if build_graph then
        execute format(
            'create index if not exists cache_prompts_graph_%s_idx on cache_prompts'
            ' using hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops) where in_graph and space_id = %s',
            registered_id, dimensions, registered_id
        );
    end if;
    return registered_id;
end;
$$;

comment on function register_embedding_space(text, integer, boolean) is 'Id of the space of an embedding model at a number of dimensions, made at first use, with its own HNSW graph where asked.';
