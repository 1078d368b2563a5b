-- Types of what people and programs read. Their comments and checks become the description of the admin API.

create domain unix_seconds as bigint;
comment on domain unix_seconds is 'Unix seconds.';
create domain natural_number as bigint check (value >= 0);
comment on domain natural_number is '';
create domain usd as numeric;
comment on domain usd is 'US dollars.';

create domain project_status as text check (value in ('active', 'archived'));
create domain project_role as text check (value in ('owner', 'member', 'viewer'));
create domain key_type as text check (value in ('project', 'test'));
create domain key_state as text check (value in ('active', 'expired', 'deactivated'));
create domain access as text check (value in ('active', 'inactive'));

create domain cache_reach as text check (value in ('exact', 'normalized', 'similar'));

create type service_account as (id text, created_at unix_seconds, name text, role text);
create type api_key_owner as (type text, service_account service_account);
create type service_account_key as (object text, id text, name text, value text, created_at unix_seconds, expires_at unix_seconds);
comment on column service_account_key.expires_at is 'Null: never.';
