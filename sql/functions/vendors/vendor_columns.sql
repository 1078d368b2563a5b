create or replace function vendor_columns() returns table (
    name text,
    type text,
    meaning text
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select a.attname::text, format_type(a.atttypid, a.atttypmod), col_description(a.attrelid, a.attnum)
    from pg_attribute a
    where a.attrelid = 'vendors'::regclass
        and a.attnum > 0
        and not a.attisdropped
        and a.attname not in ('name', 'source');
$$;

comment on function vendor_columns() is 'The columns of a vendor that an operator sets, with their types and meanings.';
