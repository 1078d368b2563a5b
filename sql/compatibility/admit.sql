create or replace function admit(key_hashes text[], wanted integer[], in_slot uuid, this_batch bigint, known_versions text[])
returns table (
    ordinal integer,
    verdict text,
    granted integer,
    month date,
    account_version text,
    account key_accounts
)
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    select a.ordinal, a.verdict, a.granted, a.month, a.account_version, a.account
    from admit(key_hashes, wanted, in_slot, this_batch, known_versions, true, 40) a;
$$;

comment on function admit(text[], integer[], uuid, bigint, text[]) is 'For the release before, which does not wait for the disk: near the end of a month, the commit does.';
