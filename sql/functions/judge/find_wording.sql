create or replace function find_wording(of_project bigint, of_context bytea, of_hash bytea)
returns table (
    prompt text,
    model text
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select
        case when s.log_content = 'sealed' then p.prompt end,
        e.model
    from projects s
    join cache_prompts p on p.name_key = hashtextextended(encode(of_context || of_hash, 'hex'), s.id)
    join cache_entries e on e.id = p.entry_id
    where s.id = of_project
        and p.project_id = of_project
        and p.context_hash = of_context
        and p.normalized_hash = of_hash
    limit 1;
$$;

comment on function find_wording(bigint, bytea, bytea) is 'A stored question by its normalized hash, and its model; without its wording when the project''s log_content is off.';
