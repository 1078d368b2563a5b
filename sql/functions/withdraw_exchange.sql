create or replace function withdraw_exchange(of_project bigint, one text, other text) returns boolean
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
    perform 1
    from learned_equivalences q
    where q.project_id = of_project
        and q.one_words = least(one, other)
        and q.other_words = greatest(one, other)
        and q.withdrawn_at is null;
    if not found then
        return false;
    end if;
    perform note_exchange(of_project, jsonb_build_object('one', one, 'other', other, 'around', '[]'::jsonb), null, 'different', 'person');
    return true;
end;
$$;

comment on function withdraw_exchange(bigint, text, text) is
    'Marks an exchange of words as harmful from the next request on, permanently, whatever verdicts say; false when there is none, learned or candidate.';
