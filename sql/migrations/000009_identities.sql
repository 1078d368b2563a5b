-- step: locked
-- Who a person is at an identity provider: addresses change hands, subjects do not.

lock table users in share row exclusive mode;

create table user_identities (
    issuer text not null,
    subject text not null,
    user_id bigint not null
        references users (id) on delete cascade,
    created_at timestamptz not null default now(),
    primary key (issuer, subject),
    unique (issuer, user_id)
);

create index user_identities_user_id_idx on user_identities (user_id);

comment on table user_identities is 'Accounts at OpenID Connect providers that log in as a user.';
comment on column user_identities.issuer is 'The provider''s address.';
comment on column user_identities.subject is 'The provider''s id of the person (sub), which is never given to another.';
comment on column user_identities.user_id is 'Who that is here.';
comment on column user_identities.created_at is 'When the person first logged in with it.';

-- No policy: a dashboard query sees none of it.
alter table user_identities enable row level security;
