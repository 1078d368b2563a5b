-- The verdict that applies to each pair of questions in its context, as in find_effective_verdict().

create or replace view effective_verdicts with (security_invoker = true) as
select v.*
from cache_verdicts v
where not exists (
    select
    from cache_verdicts x
    where x.project_id = v.project_id
        and x.one_hash = v.one_hash
        and x.other_hash = v.other_hash
        and (x.context_hash = v.context_hash or (x.source = 'person' and x.verdict = 'different'))
        and (
            array_position(array['person', 'review', 'judge'], x.source) < array_position(array['person', 'review', 'judge'], v.source)
            or (x.source = v.source and x.given_at > v.given_at)
        )
);

comment on view effective_verdicts is 'The verdict that applies to each pair of questions: a person''s before a review''s, and that before the judge''s; of people''s, the latest.';
