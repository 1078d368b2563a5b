create or replace function find_stored_turns(of_project bigint, of_key bigint, names text[], digests text[])
returns table (name text, made_by text, extras text)
language plpgsql
stable
rows 16
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select s.name, s.made_by, case when s.digest <> asked.digest then s.extras end
    from unnest(names, digests) as asked (name, digest)
    join stored_turns s
        on s.project_id = of_project
        and s.key_id = of_key
        and s.name = asked.name
    where s.expires_at > now();
end;
$$;

comment on function find_stored_turns(bigint, bigint, text[], text[]) is 'Finds the stored turns of the key with these names. The digests are those of the extras that the client sent, in the order of the names. Null: extras (the client sent them all).';
