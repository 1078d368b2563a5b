-- Whether prompts sent to Anthropic are marked for its cache.

-- step: locked
lock table projects in access exclusive mode;

alter table projects add column anthropic_cache_marks text not null default 'off';

comment on column projects.anthropic_cache_marks is 'on: chat requests translated for Anthropic are marked for its cache after the tools, the system prompt and the last turn, unless they have marks of their own; off: only theirs.';
