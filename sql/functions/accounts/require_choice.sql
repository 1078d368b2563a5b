create or replace function require_choice(given text, words text[], what text, plural text) returns void
language plpgsql
immutable
set search_path = model_proxy, pg_temp
as $$
begin
    if given is null or given <> all (words) then
        raise exception '% % does not exist; % are: %', what, quote_for_message(given), plural, array_to_string(words, ', ')
            using errcode = 'invalid_parameter_value';
    end if;
end;
$$;

comment on function require_choice(text, text[], text, text) is 'Raises if the value is none of these words, and lists them, with the given names of the value: role, roles.';
