create or replace function model_name_warnings(of_project bigint, names text[], own_names text[] default '{}') returns text[]
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
declare
    written text;
    own text;
    pattern text;
    forms text[];
    nearest text;
    warnings text[] := '{}';
begin
    foreach written in array names loop
        if strpos(written, '*') > 0 then
            pattern := replace(regexp_replace(written, '([\\%_])', '\\\1', 'g'), '*', '%');
            continue when exists (select from unnest(own_names) n where n like pattern)
                or exists (select from models m where m.model like pattern or m.provider || '/' || m.model like pattern)
                or exists (select from list_used_models(of_project) u where u.model like pattern);
            warnings := warnings || format('No known model matches the pattern %s.', left(written, 100));
            continue;
        end if;

        continue when written = any (own_names) or exists (select from models m where m.model = written);
        -- The name of a fine-tuned model contains its base model: ft:gpt-4o-mini:acme::id.
        own := case when written like 'ft:%' then split_part(written, ':', 2) else written end;
        forms := model_names(own);
        continue when (
                strpos(own, '/') = 0
                or exists (
                    select from models m where split_part(own, '/', 1) in (m.provider, split_part(m.model, '/', 1))
                )
            )
            and exists (select from models m where forms && model_names(m.model));
        continue when exists (select from list_used_models(of_project) u where u.model = written or forms && model_names(u.model));

        nearest := find_similar_name(own, array(
            select m.model from models m where m.listed and (m.retires_on is null or m.retires_on > current_date)
        ));
        warnings := warnings || (
            format('No model is known by the name %s.', left(written, 100)) || coalesce(' Did you mean ' || nearest || '?', '')
        );
    end loop;
    return warnings;
end;
$$;

comment on function model_name_warnings(bigint, text[], text[]) is
    'A sentence for each model name that matches neither a model of the catalogue, under any of its names, nor a successful request of the project. In a pattern, * stands for any characters. own_names are also known.';
