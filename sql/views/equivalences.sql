-- What verdicts have taught about words: shows which exchanges proof accepts in a project.

create or replace view equivalences as
select
    p.name as project,
    q.one_words,
    q.other_words,
    case when q.withdrawn_at is not null then 'withdrawn' when q.learned_at is not null then 'learned' else 'candidate' end as state,
    cardinality(q.pairs) as pairs,
    q.around,
    q.learned_at,
    q.withdrawn_at,
    q.withdrawn_by
from learned_equivalences q
join projects p on p.id = q.project_id;

comment on view equivalences is 'Exchanges of words with verdicts of people or the judge, by project.';
comment on column equivalences.project is 'The project.';
comment on column equivalences.one_words is 'One stretch of words; empty when the other question has more words.';
comment on column equivalences.other_words is 'The other stretch.';
comment on column equivalences.state is 'learned: harmless; candidate: judged the same in too few pairs; withdrawn: a verdict was against it.';
comment on column equivalences.pairs is 'In how many different pairs of questions it was judged harmless.';
comment on column equivalences.around is 'Words that must stand around it.';
comment on column equivalences.learned_at is 'When it became harmless.';
comment on column equivalences.withdrawn_at is 'When it was marked as harmful.';
comment on column equivalences.withdrawn_by is 'Source of that verdict: person, review or judge.';
