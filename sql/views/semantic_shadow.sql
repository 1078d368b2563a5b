-- The hits that shadow mode would have served, and their savings, for deciding whether to enable the semantic cache.

create or replace view semantic_shadow as
select
    p.name as project,
    (h.served_at at time zone 'utc')::date as day,
    h.reason,
    count(*) as hits,
    sum(h.prompt_tokens) as prompt_tokens,
    sum(h.completion_tokens) as completion_tokens,
    sum(h.saved_usd) as saved_usd
from semantic_hits h
join projects p on p.id = h.project_id
where h.is_shadow
group by p.name, (h.served_at at time zone 'utc')::date, h.reason;

comment on view semantic_shadow is 'The hits that projects in shadow mode would have had in the last week, by day (UTC).';
comment on column semantic_shadow.project is 'The project.';
comment on column semantic_shadow.day is 'The day (UTC).';
comment on column semantic_shadow.reason is 'normalized, proved, judged or threshold.';
comment on column semantic_shadow.hits is 'Number of requests.';
comment on column semantic_shadow.prompt_tokens is 'Prompt tokens that would have been saved.';
comment on column semantic_shadow.completion_tokens is 'Completion tokens that would have been saved.';
comment on column semantic_shadow.saved_usd is 'Cost that would have been saved, in US dollars.';
