-- What a prompt must share with a question to be served for it: where nothing stored does, nothing is compared.

-- step: locked
lock table cache_prompts in access exclusive mode;

alter table cache_prompts add column anchor_key bigint;

comment on column cache_prompts.anchor_key is 'Hash of the project, the context and what any question that asks the same has in common with the prompt: its form and the names and numbers in it. Null for prompts of a release that had none: they are compared with every question of their group.';

-- step: concurrently
create index concurrently cache_prompts_anchor_idx on model_proxy.cache_prompts (coalesce(anchor_key, group_key));

-- step: concurrently
create index concurrently cache_verdicts_same_by_person_idx on model_proxy.cache_verdicts (project_id, context_hash) where source = 'person' and verdict = 'same';
