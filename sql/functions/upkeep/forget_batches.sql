create or replace function forget_batches() returns void
language sql
volatile
set search_path = public, pg_temp
as $$
    delete from batch_ledger where taken_at < now() - interval '1 day';
    delete from admission_slots where used_at < now() - interval '1 day';
    delete from minute_counts m
    where not exists (select from api_keys k where k.id = m.key_id and k.minute_counted_until > now());
$$;

comment on function forget_batches() is 'Deletes the ids of batches after a day: no proxy sends them again. Deletes minutes that are not counted any more.';
