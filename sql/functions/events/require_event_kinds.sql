create or replace function require_event_kinds(kinds text[]) returns void
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
declare
    unknown constant text := (select k from unnest(kinds) k where k not in (select e.kind from webhook_event_types e) limit 1);
begin
    if unknown is not null then
        raise exception 'there is no event %; events are: %', quote_for_message(unknown), (
            select string_agg(e.kind, ', ' order by e.kind) from webhook_event_types e
        )
            using errcode = 'invalid_parameter_value';
    end if;
end;
$$;

comment on function require_event_kinds(text[]) is 'Raises if one of these is not a type of event.';
