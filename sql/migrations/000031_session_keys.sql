-- Keys of the dashboard's Playground, which end with the login that they were made in.

-- step: locked
lock table sessions, api_keys in access exclusive mode;

alter table api_keys add column session_id bigint;

comment on column api_keys.session_id is 'For a key of the dashboard''s Playground: the login that it was made in and ends with. Such keys are not listed. Null for all others.';

-- Deployed with sql/functions; the trigger needs it now.
create or replace function end_session_keys() returns trigger
language plpgsql
as 'begin return null; end';

create trigger sessions_ended after delete on sessions referencing old table as gone
    for each statement execute function end_session_keys();

-- step: concurrently
create index concurrently api_keys_session_id_idx on model_proxy.api_keys (session_id) where session_id is not null;
