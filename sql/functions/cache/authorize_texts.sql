create or replace function authorize_texts(of_project bigint) returns void
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
begin
    perform authorize(of_project, 'member');
    if not exists (select from projects p where p.id = of_project and p.log_content = 'sealed')
        or exists (select from api_keys k where k.project_id = of_project and k.log_content = 'off')
    then
        raise exception 'what is stored may be read where the text of requests is kept: log_content is sealed for the project, and off for no key'
            using errcode = 'insufficient_privilege';
    end if;
end;
$$;

comment on function authorize_texts(bigint) is
    'Raises insufficient_privilege when the current user may not read the questions and answers in a project''s cache: viewers, and everybody where the project, or one of its keys, keeps no text of requests. An entry does not know which key asked.';
