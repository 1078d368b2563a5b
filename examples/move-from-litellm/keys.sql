-- The tables of LiteLLM that hold keys and teams, with one team and one of its keys (sk-my-litellm-key).
drop schema if exists litellm cascade;
create schema litellm;
create table litellm."LiteLLM_TeamTable" (
    team_id text, team_alias text, max_budget double precision, budget_duration text, spend double precision, models text[],
    blocked boolean, created_at timestamp
);
create table litellm."LiteLLM_VerificationToken" (
    token text, key_name text, key_alias text, team_id text, spend double precision, models text[], rpm_limit bigint, created_at timestamp
);
insert into litellm."LiteLLM_TeamTable" values ('team-1', 'Search', 50, '30d', 12.5, '{}', false, '2026-01-01');
insert into litellm."LiteLLM_VerificationToken"
values (
    encode(sha256('sk-my-litellm-key'), 'hex'), 'sk-...-key', 'search-app', 'team-1', 12.5, '{fast}', 60, '2026-01-01'
);
