-- Finds whose file an id in a request is, whatever project asks.

-- squawk-ignore-file
create index kept_objects_id_idx on kept_objects (id);
