create or replace function set_vendor(vendor text, columns jsonb) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_variable
declare
    given jsonb;
    names text;
    wrong text;
    wrong_constraint text;
begin
    perform require_administrator();
    if jsonb_typeof(columns) is distinct from 'object' then
        raise exception 'the columns of a vendor must be a JSON object such as {"base_url": "https://api.example.com/v1"}'
            using errcode = 'invalid_parameter_value';
    end if;
    select c.key into wrong
    from jsonb_object_keys(columns) c (key)
    where c.key not in (select v.name from vendor_columns() v)
    limit 1;
    if wrong is not null then
        raise exception 'a vendor has no column %; columns are: %', quote_for_message(wrong), (
            select string_agg(v.name, ', ' order by v.name) from vendor_columns() v
        )
            using errcode = 'invalid_parameter_value';
    end if;
    -- Text stands for lists and objects, too: chat,embeddings for a list. An empty text is null.
    select
        jsonb_object_agg(c.key, case
            when c.value = '""' then 'null'
            when jsonb_typeof(c.value) = 'string' and v.type = 'text[]' then to_jsonb(string_to_array(replace(c.value #>> '{}', ' ', ''), ','))
            when jsonb_typeof(c.value) = 'string' and v.type = 'jsonb' then (c.value #>> '{}')::jsonb
            else c.value
        end),
        string_agg(quote_ident(c.key), ', ' order by c.key)
    into given, names
    from jsonb_each(columns) c
    join vendor_columns() v on v.name = c.key;
    if exists (select from vendors v where v.name = vendor) then
        if names is not null then
            execute format(
                'update vendors v set (%1$s) = (select %1$s from jsonb_populate_record(null::vendors, $1)) where v.name = $2', names
            )
                using given, vendor;
        end if;
    elsif given ->> 'base_url' is null then
        raise exception 'vendor % does not exist; vendors are: %. Give base_url to add one', quote_for_message(vendor), (
            select string_agg(v.name, ', ' order by v.place, v.name) from vendors v
        )
            using errcode = 'invalid_parameter_value';
    else
        if not given ? 'allows_private_address' then
            given := given || '{"allows_private_address": false}';
            names := names || ', allows_private_address';
        end if;
        execute format('insert into vendors (name, %1$s) select $2, %1$s from jsonb_populate_record(null::vendors, $1)', names)
            using given, vendor;
    end if;
exception
    when check_violation or not_null_violation then
        get stacked diagnostics wrong = column_name, wrong_constraint = constraint_name;
        wrong := coalesce(nullif(wrong, ''), regexp_replace(wrong_constraint, '^vendors_(.*)_check\d*$', '\1'));
        wrong := case wrong when 'address' then 'base_url' else wrong end;
        if wrong_constraint = 'vendors_address_check' and coalesce(given ->> 'base_url' ~ '^https?:', true) then
            raise exception 'base_url % begins with http:// or names a private network: set allows_private_address to true if that is meant',
                quote_for_message(coalesce(given ->> 'base_url', (select v.base_url from vendors v where v.name = vendor)))
                using errcode = 'invalid_parameter_value';
        end if;
        if wrong = 'name' then
            raise exception 'vendor name % is not valid: it must be up to 31 lowercase letters, digits and dashes, a letter first, and no reserved word',
                quote_for_message(vendor)
                using errcode = 'invalid_parameter_value';
        end if;
        raise exception '% is not valid for %: %',
            quote_for_message(given ->> wrong), wrong, (select v.meaning from vendor_columns() v where v.name = wrong)
            using errcode = 'invalid_parameter_value';
    when data_exception or invalid_regular_expression then
        raise exception 'the columns of vendor % are not valid: %', quote_for_message(vendor), split_part(sqlerrm, e'\n', 1)
            using errcode = 'invalid_parameter_value';
end;
$$;

comment on function set_vendor(text, jsonb) is 'Adds a vendor, or changes the given columns of one; every process uses it within seconds. Requires an administrator. Raises on an unknown column and on a value that does not fit.';
