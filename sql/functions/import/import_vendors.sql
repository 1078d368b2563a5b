create or replace function import_vendors(document jsonb, out created integer, out changed integer, out unchanged integer)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    given record;
    is_new boolean;
    is_same boolean;
begin
    created := 0;
    changed := 0;
    unchanged := 0;
    for given in
        select g.name, g.columns
        from jsonb_to_recordset(document -> 'vendors') as g (name text, columns jsonb)
    loop
        select count(*) = 0, coalesce(bool_or(to_jsonb(v) @> given.columns), false)
        into is_new, is_same
        from vendors v
        where v.name = given.name;
        if not is_same then
            perform set_vendor(given.name, given.columns);
        end if;
        created := created + is_new::integer;
        unchanged := unchanged + is_same::integer;
        changed := changed + (not is_new and not is_same)::integer;
    end loop;
    -- A vendor's own models, at the price of the same model of the vendor that it is derived from.
    for given in
        select g.vendor, g.model, m.provider as like_provider, m.model as like_model
        from jsonb_to_recordset(document -> 'models') as g (vendor text, model text, "like" text)
        join models m on m.provider = split_part(g."like", '/', 1) and m.provider || '/' || m.model = g."like"
        where not exists (select from models x where x.provider = g.vendor and x.model = g.model)
    loop
        insert into models
        select (jsonb_populate_record(m, jsonb_build_object('provider', given.vendor, 'model', given.model))).*
        from models m
        where m.provider = given.like_provider and m.model = given.like_model;
        insert into model_prices
        select (jsonb_populate_record(p, jsonb_build_object('provider', given.vendor, 'model', given.model))).*
        from model_prices p
        where p.provider = given.like_provider and p.model = given.like_model;
        insert into model_unit_prices
        select (jsonb_populate_record(u, jsonb_build_object('provider', given.vendor, 'model', given.model))).*
        from model_unit_prices u
        where u.provider = given.like_provider and u.model = given.like_model;
    end loop;
    for given in
        select g.vendor, g.sealed, g.last_four
        from jsonb_to_recordset(document -> 'vendor_keys') as g (vendor text, sealed text, last_four text)
    loop
        perform set_vendor_key(given.vendor, given.sealed::bytea, given.last_four);
    end loop;
end;
$$;

comment on function import_vendors(jsonb) is 'Adds or changes the vendors of an import, copies the prices of their models, and stores the installation''s keys for them. See import_accounts().';
