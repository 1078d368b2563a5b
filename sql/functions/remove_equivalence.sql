create or replace function remove_equivalence(project text, one text, other text) returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    owner_id bigint := open_project(project, 'member');
begin
    if not withdraw_exchange(owner_id, one, other) then
        raise exception 'no exchange of % and % has been learned', quote_for_message(one), quote_for_message(other)
            using errcode = 'invalid_parameter_value';
    end if;
    perform audit('cache.equivalence_removed', owner_id, 'proj_' || owner_id, jsonb_build_object('one', one, 'other', other));
end;
$$;

comment on function remove_equivalence(text, text, text) is 'withdraw_exchange() for operators. Raises on an unknown project, and when there is no such exchange.';
