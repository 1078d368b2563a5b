create or replace function keys_of_type(key_type text) returns setof bigint
language sql
stable
as $$
    select k.id from api_keys k where k.type = key_type
    union all
    select key_type_id(key_type);
$$;

comment on function keys_of_type(text) is 'The keys of this type that the current user may see, and what the sums of all projects together have in their place.';
