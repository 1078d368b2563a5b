create or replace function matching_budgets(of_project bigint, of_key bigint, of_model text, of_tags jsonb) returns setof budgets
language sql
stable
rows 2
-- A search_path setting would prevent inlining.
as $$
    select b.*
    from budgets b
    where (b.project_id = of_project or b.project_id is null)
        and (b.key_id is null or b.key_id = of_key)
        and (b.model is null or (model_names(b.model))[1] = any (model_names(of_model)))
        and (b.tag is null or of_tags @> b.tag);
$$;

comment on function matching_budgets(bigint, bigint, text, jsonb) is 'The budgets that apply to such a request, including the organization''s and those that are not enforced.';
